import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Certificate } from './certificate.ts';
import type { HttpTimes } from './http-config.ts';

/** The server that the framework stands on, with the limits that belong to connections. */
export function createNodeServer(
  handler: RequestListener,
  times: HttpTimes,
  certificate: Certificate | undefined,
): Server {
  const options: ServerOptions = {
    maxHeaderSize: 32 * 1024,
    headersTimeout: Math.min(times.headMs, times.requestMs),
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: Math.min(5000, Math.ceil(times.headMs / 4)),
    // Finds callers whose machine is gone without a word.
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
    noDelay: true,
  };
  if (certificate === undefined) return createServer(options, handler);
  const handshakeTimeout = times.headMs;
  return createTlsServer({ ...options, ...certificate.options, handshakeTimeout }, handler);
}
