import type { Clock } from '@iop/domain';
import type { Log, Metrics } from '@iop/shell';
import type { EdgeDoor } from '../core/door.ts';
import type { OperatorEdge } from '../operator-requests/question.ts';
import { anthropicDoor } from './anthropic/anthropic-door.ts';
import { apiDoor } from './api/api-door.ts';
import type { HttpConfig } from './http/http-config.ts';
import { createHttpServer, type HttpServer } from './http/http-server.ts';
import { openaiDoor } from './openai/openai-door.ts';
import { responsesDoor } from './responses/responses-door.ts';

export interface HttpDoorDeps {
  edge: EdgeDoor;
  /** Serves the management API too; undefined: it is not there. */
  operators?: OperatorEdge;
  config: HttpConfig;
  log: Log;
  metrics: Metrics;
  clock: Clock;
}

/** The HTTP port with all the doors that share it. */
export function createHttpDoor(deps: HttpDoorDeps): HttpServer {
  const { edge, operators } = deps;
  const management = operators === undefined ? [] : [apiDoor(operators)];
  const doors = [responsesDoor(edge), openaiDoor(edge), anthropicDoor(edge), ...management];
  return createHttpServer({ ...deps, doors });
}
