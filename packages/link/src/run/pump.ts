import type { Clock } from '@iop/domain';
import type { Link, LinkMessage } from '../link.ts';

/** L20. */
export const maxPayloadBytes = 64 * 1024;
/** No more is taken from the sources while so much waits for the socket. */
const unsentLimitBytes = 256 * 1024;
/** With more than this waiting, requests leave without their bodies. */
const inlineLimitBytes = 1024 * 1024;

/** What has data to send over whatever link there is: outboxes and body senders. */
export interface PumpSource {
  /** Something may be taken now. */
  readonly sendable: boolean;
  /** The next message with at most `maxBytes` of payload (one event may be larger). */
  takeMessage(maxBytes: number): LinkMessage | undefined;
}

/**
 * Feeds one peer's links, one after another, from many sources in turn, at the end of each tick and as
 * fast as the socket takes it. Outlives the links: `attach` and `detach` it as they come and go.
 *
 * L17: every attached link is a new generation; a source sends only in the generation in which it was
 * opened or resumed.
 */
export class Pump {
  readonly #clock: Clock;
  #ready = new Set<PumpSource>();
  #link: Link | undefined;
  #generation = 0;
  #due = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get generation(): number {
    return this.#generation;
  }

  /** How much of its body a RunRequest may carry now: a burst of them is no peer that does not read (L25). */
  get inlineBytes(): number {
    const waitingBytes = this.#link?.unsentControlBytes ?? 0;
    return waitingBytes < inlineLimitBytes ? maxPayloadBytes : 0;
  }

  attach(link: Link): void {
    this.#generation++;
    this.#ready = new Set();
    this.#link = link;
  }

  detach(): void {
    this.#link = undefined;
    this.#ready = new Set();
  }

  /** `source` has something to send; cheap to call again. */
  ready(source: PumpSource): void {
    if (this.#link === undefined) return;
    this.#ready.add(source);
    if (this.#due) return;
    this.#due = true;
    this.#clock.soon(this.#run);
  }

  /** To be called from `LinkHandlers.onDrain`. */
  drained(): void {
    this.#run();
  }

  readonly #run = (): void => {
    this.#due = false;
    const link = this.#link;
    if (link === undefined) return;
    while (this.#link === link && this.#ready.size > 0 && link.unsentBytes < unsentLimitBytes) {
      this.#runRound(link);
    }
  };

  /** Every source has its turn; who has more comes again in the next round. */
  #runRound(link: Link): void {
    const round = this.#ready;
    this.#ready = new Set();
    for (const source of round) {
      if (this.#link !== link) return;
      if (link.unsentBytes >= unsentLimitBytes) {
        this.#ready = new Set([...round, ...this.#ready]);
        return;
      }
      round.delete(source);
      const message = source.takeMessage(maxPayloadBytes);
      if (message !== undefined) link.send(message);
      if (source.sendable) this.#ready.add(source);
    }
  }
}
