import type { Clock } from '@iop/domain';
import type { Log, Metrics } from '@iop/shell';
import type { EdgeDoor } from '../core/door.ts';
import { anthropicDoor } from './anthropic/anthropic-door.ts';
import type { HttpConfig } from './http/http-config.ts';
import { createHttpServer, type HttpServer } from './http/http-server.ts';
import { openaiDoor } from './openai/openai-door.ts';
import { responsesDoor } from './responses/responses-door.ts';

export interface HttpDoorDeps {
  edge: EdgeDoor;
  config: HttpConfig;
  log: Log;
  metrics: Metrics;
  clock: Clock;
}

/** The HTTP port with all the doors that share it. */
export function createHttpDoor(deps: HttpDoorDeps): HttpServer {
  return createHttpServer({
    ...deps,
    doors: [responsesDoor(deps.edge), openaiDoor(deps.edge), anthropicDoor(deps.edge)],
  });
}
