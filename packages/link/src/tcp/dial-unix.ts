import { connect } from 'node:net';
import type { Dial } from '../transport.ts';
import { whenReady } from './dial-tcp.ts';
import { SocketTransport } from './socket-transport.ts';

/** Dials a Unix socket: no TLS and no pin, the file's mode is the permission. */
export function dialUnix({ path }: { path: string }): Dial {
  return async (signal) => {
    const socket = connect({ path });
    await whenReady({ socket, ready: 'connect', address: path, timeoutMs: 10_000 }, signal);
    return new SocketTransport(socket, { kind: 'unix', address: path });
  };
}
