import type { AddressInfo } from 'node:net';
import { type Clock, IopError } from '@iop/domain';
import type { FastifyInstance } from 'fastify';

/** @throws IopError `http.listen` when the port cannot be had */
export async function listen(
  server: FastifyInstance,
  config: { host: string; port: number },
): Promise<{ host: string; port: number }> {
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

/** Takes no more, lets answers under way finish, and cuts what is left after `graceMs`. */
export async function closeGently(
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
