import type { Server as TlsServer } from 'node:tls';
import type { Clock } from '@iop/domain';
import type { Log, Metrics } from '@iop/shell';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EdgeDoor } from '../../core/door.ts';
import { createCallerCheck } from './caller.ts';
import { readCertificate } from './certificate.ts';
import { watchCertificate } from './certificate-watch.ts';
import { createClientOf } from './client.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { answerExpectations } from './continue.ts';
import { createCors } from './cors.ts';
import { Exchange } from './exchange.ts';
import { createFastify } from './fastify-server.ts';
import { assertHttpConfig, type HttpConfig, httpTimes } from './http-config.ts';
import { createHttpMeter } from './http-meter.ts';
import { createHttpPort, type HttpRoutes } from './http-port.ts';
import { closeGently, listen } from './listening.ts';
import { probeRoutes } from './probes.ts';
import { createRequestIds } from './request-id.ts';
import { createRouteTable } from './route-table.ts';
import { createUnmatched, pathOf } from './unmatched.ts';

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
  const { basePath, bodyLimitBytes, tls } = config;
  const times = httpTimes(config);
  const watch = new ConnectionWatch();
  const certificate = tls && readCertificate(tls);
  const server = createFastify({ times, certificate, watch, takeUnmatched });
  const cors = createCors(config.corsOrigins);
  const clientOf = createClientOf(config.trustedProxies);
  const meterOf = createHttpMeter(deps.metrics, () => watch.count);
  const host = { clock, log, times, cors, watch, clientOf, closing: false, closers: new Set<() => void>() };
  const requestId = createRequestIds();
  const table = createRouteTable();
  const checkCaller = createCallerCheck({ config, cors, clientOf, edge: deps.edge });
  const answerUnmatched = createUnmatched({ table, cors, basePath });
  const shared = { server, host, meterOf, log, bodyLimitBytes, checkCaller, requestId, table, basePath };
  const port = createHttpPort({ ...shared, answerUnmatched });
  for (const routes of [probeRoutes(deps), ...deps.doors]) routes(port);
  const unmatchedMeter = meterOf('none');
  function takeUnmatched({ raw: req }: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const style = table.styleOf(pathOf(req));
    const init = { meter: unmatchedMeter, requestId: requestId(req), req, res: reply.raw, style };
    answerUnmatched(new Exchange(host, init));
  }
  server.all('/*', { onRequest: (request, reply) => takeUnmatched(request, reply) }, () => {});
  answerExpectations(server.server, bodyLimitBytes);
  let stopWatching = () => {};
  return {
    async listen() {
      const address = await listen(server, config);
      if (tls !== undefined) {
        const raw = server.server as unknown as TlsServer;
        stopWatching = watchCertificate({ server: raw, files: tls, log, intervalMs: times.certificateMs });
      }
      return address;
    },
    async close() {
      host.closing = true;
      for (const closer of [...host.closers]) closer();
      stopWatching();
      await closeGently(server, { clock, graceMs: times.closeGraceMs });
    },
  };
}
