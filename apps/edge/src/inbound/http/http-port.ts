import type { IncomingMessage } from 'node:http';
import type { Clock } from '@iop/domain';
import type { Log } from '@iop/shell';
import type { FastifyInstance } from 'fastify';
import { type AnswerStyle, openaiStyle } from './answer-style.ts';
import type { CheckCaller } from './caller.ts';
import { Exchange, type ExchangeHost } from './exchange.ts';
import type { HttpTimes } from './http-config.ts';
import type { RouteMeter } from './http-meter.ts';
import type { Refusal } from './refusal.ts';
import type { RouteMethod, RouteTable } from './route-table.ts';
import { type AnswerUnmatched, pathOf } from './unmatched.ts';

/** A door's routes on the port that all doors share. */
export type HttpRoutes = (port: HttpPort) => void;

/** What a door gets to hang its routes on. */
export interface HttpPort {
  readonly clock: Clock;
  readonly log: Log;
  readonly times: HttpTimes;
  readonly bodyLimitBytes: number;
  readonly checkCaller: CheckCaller;
  /**
   * `take` gets a request as soon as its head is here, the body unread, so that who calls is checked
   * first. `rest` is what a `*` at the end of `url` stands for, decoded. Everything that is refused under this URL is
   * refused in `style`, wrong methods too; default: OpenAI's.
   */
  route(method: RouteMethod, url: string, take: Take, style?: AnswerStyle): void;
  /** Like `route`, for paths that may mean something or nothing: no method of theirs is known to be right. */
  routeRest(method: 'POST', url: string, take: Take): void;
  /** Calls when no further requests are taken, for answers that have no end of their own. Returns how to forget it. */
  whenClosing(callback: () => void): () => void;
  /** What a path without a route gets. */
  answerUnmatched(exchange: Exchange): void;
  /** Runs what answers `exchange`; a bug in it costs this exchange and no other. */
  guard(exchange: Exchange, answer: () => void): void;
}

export type Take = (exchange: Exchange, rest: string) => void;

export interface PortInit {
  server: FastifyInstance;
  host: ExchangeHost;
  meterOf: (route: string) => RouteMeter;
  log: Log;
  bodyLimitBytes: number;
  checkCaller: CheckCaller;
  requestId: (req: IncomingMessage) => string;
  table: RouteTable;
  answerUnmatched: AnswerUnmatched;
  /** Before the URL of every route. */
  basePath: string;
}

export function createHttpPort(init: PortInit): HttpPort {
  const { host, log, bodyLimitBytes, checkCaller, table, answerUnmatched, basePath } = init;
  const guard = createGuard(log);
  const hang = createHanger(init, guard);
  return {
    clock: host.clock,
    log,
    times: host.times,
    bodyLimitBytes,
    checkCaller,
    guard,
    answerUnmatched,
    whenClosing(callback) {
      host.closers.add(callback);
      return () => host.closers.delete(callback);
    },
    route(method, url, take, style = openaiStyle) {
      table.add({ method, url: basePath + url, style });
      hang({ method, url, take, style });
    },
    routeRest(method, url, take) {
      const takeRest: Take = (exchange, rest) => {
        if (table.allowed(pathOf(exchange.req)) === undefined) take(exchange, rest);
        else answerUnmatched(exchange);
      };
      hang({ method, url, take: takeRest, style: openaiStyle });
    },
  };
}

function createGuard(log: Log): HttpPort['guard'] {
  return (exchange, answer) => {
    try {
      answer();
    } catch (error) {
      const reason = error instanceof Error ? error.stack : String(error);
      log.error({ ...exchange.labels(), reason }, 'an exchange failed because of a bug');
      if (exchange.hasBegun) exchange.cut();
      else exchange.refuse(bug);
    }
  };
}

interface Hung {
  method: RouteMethod;
  url: string;
  take: Take;
  style: AnswerStyle;
}

/** Hangs a route on the framework. */
function createHanger({ server, host, meterOf, requestId, basePath }: PortInit, guard: HttpPort['guard']) {
  return ({ method, url, take, style }: Hung): void => {
    const meter = meterOf(url);
    server.route({
      method,
      url: basePath + url,
      // The first hook takes the request out of the framework's hands: it has routed, and its body
      // parsing, serialising and error pages are not what a relay needs.
      onRequest({ raw: req, params }, reply) {
        reply.hijack();
        const exchange = new Exchange(host, { meter, requestId: requestId(req), req, res: reply.raw, style });
        guard(exchange, () => take(exchange, (params as { '*'?: string })['*'] ?? ''));
      },
      handler: taken,
    });
  };
}

function taken(): void {}

const bug: Refusal = {
  status: 500,
  message: 'The Edge has a fault; its log says more under this x-request-id.',
  type: 'server_error',
  code: 'internal',
  shouldRetry: false,
};
