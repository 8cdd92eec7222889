import { connect } from 'node:net';
import type { Dial, Transport } from '../transport.ts';
import { whenReady } from './dial-tcp.ts';
import { SocketTransport } from './socket-transport.ts';

/** Dials a Unix socket: no TLS and no pin, the file's mode is the permission. */
export function dialUnix({ path }: { path: string }): Dial {
  return (signal) => {
    const socket = connect({ path });
    const make = (): Transport => new SocketTransport(socket, { kind: 'unix', address: path });
    return whenReady({ socket, ready: 'connect', make, address: path, timeoutMs: 10_000 }, signal);
  };
}
