import type { Clock } from '@iop/domain';

export interface HeartbeatHandlers {
  /** Send a Ping with this id. */
  ping(id: number): void;
  /** No frame for three intervals; called once, the last call. */
  silent(silentMs: number): void;
}

const missesAllowed = 3;

/**
 * L8: a peer is dead when nothing was heard for three intervals. One timer; frames only note the time.
 *
 * A timer that fires late by half an interval means that this process stood still (stopped, starved,
 * suspended): frames may wait unread, so the peer gets a whole new grace.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #handlers: HeartbeatHandlers;
  #heardAtMs: number;
  #dueAtMs = 0;
  #cancel: (() => void) | undefined;
  #deadline: (() => void) | undefined;
  #probeAnswered = true;
  #pingId = 0;
  #pingSentAtMs = 0;
  #roundTripUs: number | undefined;

  constructor(clock: Clock, intervalMs: number, handlers: HeartbeatHandlers) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#handlers = handlers;
    this.#heardAtMs = clock.now();
  }

  get roundTripUs(): number | undefined {
    return this.#roundTripUs;
  }

  /** The first ping leaves at once, so that a round trip is known early. */
  start(): void {
    this.#ping();
    this.#arm();
  }

  heard(): void {
    this.#heardAtMs = this.#clock.now();
    this.#probeAnswered = true;
  }

  pong(id: number): void {
    if (id === this.#pingId) this.#roundTripUs = Math.round((this.#clock.now() - this.#pingSentAtMs) * 1000);
  }

  /** Asks now; if nothing is heard within `deadlineMs`, `silent` is called. */
  probe(deadlineMs: number): void {
    if (this.#deadline !== undefined) return;
    this.#probeAnswered = false;
    this.#ping();
    this.#deadline = this.#clock.after(deadlineMs, () => {
      this.#deadline = undefined;
      if (!this.#probeAnswered) this.#die();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#deadline?.();
    this.#cancel = undefined;
    this.#deadline = undefined;
  }

  readonly #tick = (): void => {
    const now = this.#clock.now();
    if (now - this.#dueAtMs > this.#intervalMs / 2) this.#heardAtMs = now;
    if (now - this.#heardAtMs >= missesAllowed * this.#intervalMs) {
      this.#die();
      return;
    }
    this.#ping();
    this.#arm();
  };

  /** The next ping, or the moment of death if that is sooner. */
  #arm(): void {
    const now = this.#clock.now();
    const deathInMs = this.#heardAtMs + missesAllowed * this.#intervalMs - now;
    const delayMs = Math.min(this.#intervalMs, Math.max(deathInMs, 0));
    this.#dueAtMs = now + delayMs;
    this.#cancel = this.#clock.after(delayMs, this.#tick);
  }

  #ping(): void {
    this.#pingId = (this.#pingId + 1) >>> 0;
    this.#pingSentAtMs = this.#clock.now();
    this.#handlers.ping(this.#pingId);
  }

  #die(): void {
    this.stop();
    this.#handlers.silent(Math.round(this.#clock.now() - this.#heardAtMs));
  }
}
