import type { AddressInfo } from 'node:net';
import { type Clock, IopError } from '@iop/domain';
import type { Log, Metrics } from '@iop/shell';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { EdgeDoor } from '../../core/door.ts';
import { createCallerCheck } from './caller.ts';
import { answerClientError } from './client-error.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { answerExpectations } from './continue.ts';
import { createCors } from './cors.ts';
import { Exchange } from './exchange.ts';
import { assertHttpConfig, type HttpConfig, type HttpTimes, httpTimes } from './http-config.ts';
import { createHttpMeter } from './http-meter.ts';
import { createHttpPort, type HttpRoutes } from './http-port.ts';
import { probeRoutes } from './probes.ts';
import { createRequestIds } from './request-id.ts';
import { createRouteTable } from './route-table.ts';
import { createUnmatched } from './unmatched.ts';

export interface HttpServerDeps {
  edge: Pick<EdgeDoor, 'checkKey' | 'readiness'>;
  config: HttpConfig;
  log: Log;
  metrics: Metrics;
  clock: Clock;
  /** What is served beside the probes. */
  doors: readonly HttpRoutes[];
}

export interface HttpServer {
  /** @throws IopError `http.listen` when the port cannot be had */
  listen(): Promise<{ host: string; port: number }>;
  /** Takes no more, lets answers under way finish, and cuts what is left after `closeGraceMs`. */
  close(): Promise<void>;
}

/** The one HTTP port of an Edge. It knows sockets, limits, callers and errors, and no door. */
export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const { config, clock, log } = deps;
  assertHttpConfig(config);
  const times = httpTimes(config);
  const watch = new ConnectionWatch();
  const server = createFastify({ times, watch, takeUnmatched });
  const cors = createCors(config.corsOrigins);
  const meterOf = createHttpMeter(deps.metrics, () => watch.count);
  const host = { clock, log, times, cors, watch, closing: false };
  const requestId = createRequestIds();
  const table = createRouteTable();
  const { bodyLimitBytes } = config;
  const checkCaller = createCallerCheck(config, cors, deps.edge);
  const answerUnmatched = createUnmatched(table, cors);
  const shared = { server, host, meterOf, log, bodyLimitBytes, checkCaller, requestId, table };
  const port = createHttpPort({ ...shared, answerUnmatched });
  for (const routes of [probeRoutes(deps), ...deps.doors]) routes(port);
  const unmatchedMeter = meterOf('none');
  function takeUnmatched({ raw: req }: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    answerUnmatched(
      new Exchange(host, { meter: unmatchedMeter, requestId: requestId(req), req, res: reply.raw }),
    );
  }
  server.all('/*', { onRequest: (request, reply) => takeUnmatched(request, reply) }, () => {});
  answerExpectations(server.server, bodyLimitBytes);
  return {
    listen: () => listen(server, config),
    async close() {
      host.closing = true;
      await closeGently(server, { clock, graceMs: times.closeGraceMs });
    },
  };
}

interface FastifyParts {
  times: HttpTimes;
  watch: ConnectionWatch;
  takeUnmatched: (request: FastifyRequest, reply: FastifyReply) => void;
}

function createFastify({ times, watch, takeUnmatched }: FastifyParts): FastifyInstance {
  const server = fastify({
    logger: false,
    return503OnClosing: false,
    keepAliveTimeout: times.keepAliveMs,
    requestTimeout: times.requestMs,
    frameworkErrors: (_error, request, reply) => takeUnmatched(request, reply),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, watch),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2048 },
    http: {
      maxHeaderSize: 32 * 1024,
      headersTimeout: Math.min(times.headMs, times.requestMs),
      connectionsCheckingInterval: Math.min(5000, Math.ceil(times.headMs / 4)),
      // Finds callers whose machine is gone without a word.
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    },
  });
  server.removeAllContentTypeParsers();
  // Methods that the router does not know, and what the framework would say about them.
  server.setNotFoundHandler(takeUnmatched);
  server.setErrorHandler((_error, request, reply) => takeUnmatched(request, reply));
  return server;
}

async function listen(server: FastifyInstance, config: HttpConfig): Promise<{ host: string; port: number }> {
  // One address only: on `localhost` the framework would open a second port behind our back.
  const host = config.host === 'localhost' ? '127.0.0.1' : config.host;
  try {
    await server.listen({ host, port: config.port });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new IopError({
      kind: 'unavailable',
      code: 'http.listen',
      message: `cannot listen on ${host}:${config.port} for HTTP: ${reason}; change http.host or http.port`,
      cause,
    });
  }
  return { host, port: (server.server.address() as AddressInfo).port };
}

async function closeGently(
  server: FastifyInstance,
  { clock, graceMs }: { clock: Clock; graceMs: number },
): Promise<void> {
  const closed = server.close();
  // An answer that ends now leaves its connection idle, with nobody to close it.
  let cancelSweep = clock.after(sweepMs, sweep);
  function sweep(): void {
    server.server.closeIdleConnections();
    cancelSweep = clock.after(sweepMs, sweep);
  }
  const cancelCut = clock.after(graceMs, () => server.server.closeAllConnections());
  await closed;
  cancelSweep();
  cancelCut();
}

const sweepMs = 50;
