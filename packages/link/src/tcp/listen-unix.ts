import { lstatSync, unlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { IopError } from '@iop/domain';
import { type Listener, type OnRefused, type OnTransport, OpenSockets, whenListening } from './listener.ts';
import { fromNodeError } from './node-error.ts';
import { SocketTransport } from './socket-transport.ts';

/** What the kernel allows for the path of a Unix socket. */
const longestPathBytes = 107;

export interface ListenUnixOptions {
  path: string;
  onTransport: OnTransport;
  onRefused?: OnRefused;
}

/**
 * Listens on a Unix socket of mode 0600. A file left by a dead process is replaced; a live one is not.
 * @throws IopError: somebody listens there or it is no socket (`conflict`), path too long (`invalid`)
 */
export async function listenUnix(options: ListenUnixOptions): Promise<Listener> {
  const { path, onTransport, onRefused = () => {} } = options;
  await makeWay(path);
  const sockets = new OpenSockets();
  const server = createServer((socket) => {
    sockets.add(socket);
    onTransport(new SocketTransport(socket, { kind: 'unix', address: path }));
  });
  try {
    await whenListening(server, () => withMask(0o177, () => server.listen({ path })), onRefused);
  } catch (error) {
    throw fromNodeError(error, `listening on ${path}`, 'link.listen-failed');
  }
  return { address: { host: path, port: 0 }, close: () => sockets.close(server) };
}

/** The socket is bound within `listen`, so at no moment it has a wider mode. */
function withMask(mask: number, act: () => void): void {
  const before = process.umask(mask);
  try {
    act();
  } finally {
    process.umask(before);
  }
}

async function makeWay(path: string): Promise<void> {
  if (Buffer.byteLength(path) > longestPathBytes) {
    const message = `the path of a Unix socket may have ${longestPathBytes} bytes, ${path} has ${Buffer.byteLength(path)}; use a shorter state directory`;
    throw new IopError({ kind: 'invalid', code: 'link.path-too-long', message });
  }
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw inTheWay(path, 'it is not a socket');
  if (await answers(path)) throw inTheWay(path, 'another program listens there');
  unlinkSync(path);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (alive: boolean): void => {
      socket.destroy();
      resolve(alive);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

function inTheWay(path: string, why: string): IopError {
  return new IopError({
    kind: 'conflict',
    code: 'link.listen-failed',
    message: `listening on ${path}: ${why}`,
  });
}
