import type { Server, Socket } from 'node:net';
import type { Transport } from '../transport.ts';

export interface Listener {
  /** Where it really listens: port 0 was replaced. A Unix socket: its path and port 0. */
  readonly address: { host: string; port: number };
  /** Takes nobody any more; what is still open after a second is destroyed. */
  close(): Promise<void>;
}

export type OnTransport = (transport: Transport) => void;

/** Somebody could not be let in: no file descriptors left, a limit reached. Perhaps thousands of times a second. */
export type OnRefused = (why: string) => void;

const closeGraceMs = 1_000;

/** Remembers the sockets of a server, so that it can be closed for good. */
export class OpenSockets {
  readonly #sockets = new Set<Socket>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  close(server: Server): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#sockets) socket.destroy();
      }, closeGraceMs);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Resolves when the server listens; rejects with what Node says. */
export function whenListening(server: Server, listen: () => void, onRefused: OnRefused): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      // An accept that failed (no file descriptors left) concerns one newcomer, not the process.
      server.on('error', (error) => onRefused(error.message));
      server.on('drop', () => onRefused('too many connections'));
      resolve();
    });
    listen();
  });
}
