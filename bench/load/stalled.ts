import { connect, type Socket } from 'node:net';
import { Failures } from './failures.ts';
import type { HoldResult, Stall } from './messages.ts';
import { chatRequest } from './request.ts';
import { sleep } from './sleep.ts';

const padBytes = 16 * 1024;
const limitMs = 10_000;

/** Callers that stop reading as soon as their answer has begun. */
export class StalledCallers {
  #sockets: Socket[] = [];

  /** Returns when each has seen the beginning of its answer. */
  async open({ place, streams }: Stall): Promise<HoldResult> {
    const request = chatRequest(place, 256, { frames: 0, paceMs: 1, delayMs: 1, padBytes });
    const failures = new Failures();
    let begun = 0;
    for (let opened = 0; opened < streams; opened++) {
      const socket = connect({ host: '127.0.0.1', port: place.port, noDelay: true });
      socket.on('error', () => {});
      socket.once('data', (bytes: Buffer) => {
        socket.pause();
        if (bytes.toString('latin1', 0, 12) === 'HTTP/1.1 200') begun++;
        else failures.add(bytes.toString('latin1', 0, 200));
      });
      socket.write(request);
      this.#sockets.push(socket);
    }
    for (let waitedMs = 0; begun < streams && waitedMs < limitMs; waitedMs += 10) await sleep(10);
    if (begun < streams) failures.add(`${streams - begun} of ${streams} answers did not begin`);
    return failures.report();
  }

  async close(): Promise<HoldResult> {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets = [];
    return new Failures().report();
  }
}
