import type { Clock } from '@iop/domain';
import type { CallPhase } from './upstream-fault.ts';

/** A call whose upstream may fall silent. Its fields are written at every chunk, so they are plain. */
export interface Watched {
  phase: CallPhase;
  /** Of the monotonic clock: when the upstream was last heard, or the request sent. */
  heardAtMs: number;
  /** Silence that we asked for does not count. */
  paused: boolean;
  /** Its place in the watch, which keeps it; -1: none. */
  seat: number;
  silent(silentMs: number): void;
}

export interface SilenceLimits {
  firstByteTimeoutMs: number;
  idleTimeoutMs: number;
}

/** One coarse timer for all calls of an adapter, armed only while there are any: no timer a chunk. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limits: SilenceLimits;
  readonly #calls: Watched[] = [];
  readonly #periodMs: number;
  #armed = false;

  constructor(clock: Clock, limits: SilenceLimits) {
    this.#clock = clock;
    this.#limits = limits;
    const shortest = Math.min(limits.firstByteTimeoutMs, limits.idleTimeoutMs);
    this.#periodMs = Math.min(1000, Math.max(10, shortest / 4));
  }

  add(call: Watched): void {
    call.seat = this.#calls.push(call) - 1;
    if (this.#armed) return;
    this.#armed = true;
    this.#clock.after(this.#periodMs, this.#sweep);
  }

  remove(call: Watched): void {
    const { seat } = call;
    if (seat < 0) return;
    call.seat = -1;
    const last = this.#calls.pop();
    if (last === undefined || last === call) return;
    this.#calls[seat] = last;
    last.seat = seat;
  }

  readonly #sweep = (): void => {
    this.#armed = this.#calls.length > 0;
    if (!this.#armed) return;
    const now = this.#clock.now();
    for (const call of [...this.#calls]) {
      const limit = call.phase === 'answering' ? this.#limits.idleTimeoutMs : this.#limits.firstByteTimeoutMs;
      // Connecting has its own limit, in the connector.
      if (call.phase === 'connecting' || call.paused) continue;
      if (now - call.heardAtMs >= limit) call.silent(now - call.heardAtMs);
    }
    this.#clock.after(this.#periodMs, this.#sweep);
  };
}
