import type { Clock } from '@iop/domain';

interface Timer {
  atMs: number;
  callback: () => void;
}

/** A clock that moves only when told to. `soon` and `atTurnEnd` are real. */
export interface ManualClock extends Clock {
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
  /** When the next timer fires, on this clock; undefined: none. */
  readonly nextAtMs: number | undefined;
  /** Moves on by `ms`, firing what falls due, in order. */
  advance(ms: number): void;
  /** Moves at once without firing on the way: as if the process had stood still. Then fires all that is due. */
  freeze(ms: number): void;
}

export function createManualClock(startMs = 0): ManualClock {
  const timers = new Set<Timer>();
  let nowMs = startMs;

  function earliest(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) if (first === undefined || timer.atMs < first.atMs) first = timer;
    return first;
  }

  function fireUntil(endMs: number, follow: boolean): void {
    for (let timer = earliest(); timer !== undefined && timer.atMs <= endMs; timer = earliest()) {
      timers.delete(timer);
      if (follow) nowMs = Math.max(nowMs, timer.atMs);
      timer.callback();
    }
  }

  return {
    get pending() {
      return timers.size;
    },
    get nextAtMs() {
      return earliest()?.atMs;
    },
    now: () => nowMs,
    wall: () => Date.UTC(2026, 0, 1) + nowMs,
    soon: (callback) => process.nextTick(callback),
    atTurnEnd: (callback) => void setImmediate(callback),
    after(delayMs, callback) {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      const endMs = nowMs + ms;
      fireUntil(endMs, true);
      nowMs = endMs;
    },
    freeze(ms) {
      nowMs += ms;
      fireUntil(nowMs, false);
    },
  };
}

/** Lets everything happen that needs no time: ticks, microtasks, one turn of I/O. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
