import { Connection } from './connection.ts';
import { Failures } from './failures.ts';
import type { HoldOpen, HoldResult, Release } from './messages.ts';
import { chatRequest, httpPost } from './request.ts';
import { sleep } from './sleep.ts';
import { StreamClient } from './stream-client.ts';
import { StreamMeter } from './stream-meter.ts';

const maxOpening = 64;
const limitMs = 30_000;

/** Streams that stay open while somebody looks at memory. */
export class Holder {
  readonly #clients = new Set<StreamClient>();
  readonly #meter = new StreamMeter();
  #failures = new Failures();
  #opening = 0;

  /** Returns when each stream has had its first frame. */
  async hold(command: HoldOpen): Promise<HoldResult> {
    this.#failures = new Failures();
    const request = chatRequest(command.place, 256, { frames: 0, paceMs: command.paceMs, delayMs: 1 });
    const untilMs = performance.now() + limitMs;
    for (let opened = 0; opened < command.streams && performance.now() < untilMs; ) {
      while (this.#opening < maxOpening && opened < command.streams) {
        this.#open(command.place.port, request);
        opened++;
      }
      await sleep(1);
    }
    await waitFor(() => this.#opening === 0);
    if (this.#opening > 0) this.#failures.add(`${this.#opening} streams had no first frame in ${limitMs} ms`);
    return this.#failures.report();
  }

  async release(command: Release): Promise<HoldResult> {
    askToFinish(command.mockPort);
    await waitFor(() => this.#clients.size === 0);
    for (const client of this.#clients) {
      this.#failures.add('not ended after it was asked to');
      client.close();
    }
    return this.#failures.report();
  }

  #open(port: number, request: Buffer): void {
    this.#opening++;
    let opening = true;
    const opened = (): void => {
      if (opening) this.#opening--;
      opening = false;
    };
    const client = new StreamClient({
      port,
      request,
      frames: undefined,
      meter: this.#meter,
      onFirst: opened,
      onOver: (problem) => {
        opened();
        if (problem !== undefined) this.#failures.add(problem);
        this.#clients.delete(client);
        client.close();
      },
    });
    this.#clients.add(client);
    client.send();
  }
}

async function waitFor(reached: () => boolean): Promise<void> {
  for (let waitedMs = 0; !reached() && waitedMs < limitMs; waitedMs += 10) await sleep(10);
}

function askToFinish(port: number): void {
  const ignore = (): void => {};
  const connection = new Connection(port, {
    status: ignore,
    body: ignore,
    end: () => connection.close(),
    closed: ignore,
  });
  connection.send(httpPost({ port, path: '/bench/finish', headers: {} }, '{}'));
}
