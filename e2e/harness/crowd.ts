import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Connections that are opened and say nothing. */
export interface Crowd {
  /** Those that were not refused and are open now. */
  open(): number;
  leave(): void;
}

/** Opens them a hundred at a time; resolves when each was taken or turned away, or has waited for two seconds. */
export async function openCrowd(port: number, count: number): Promise<Crowd> {
  const sockets = new Set<Socket>();
  for (let opened = 0; opened < count; opened += 100) {
    await Promise.race([
      Promise.all(Array.from({ length: 100 }, () => openOne(port, sockets))),
      sleep(2_000),
    ]);
  }
  return {
    open: () => sockets.size,
    leave() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
  };
}

function openOne(port: number, sockets: Set<Socket>): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      sockets.add(socket);
      resolve();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      resolve();
    });
  });
}
