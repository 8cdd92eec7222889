import type { Clock } from '@iop/domain';

/** A clock that moves when a test says so. */
export interface ManualClock extends Clock {
  /** Lets so much time pass: timers call in order of their time. */
  advance(ms: number): void;
  /** Runs what waits for the end of the tick. */
  settle(): void;
  /** Timers that have neither called nor been cancelled. */
  readonly pending: number;
}

export function createManualClock(startMs = 1_000_000): ManualClock {
  let now = 0;
  let soon: (() => void)[] = [];
  const timers = new Set<{ at: number; callback: () => void }>();

  function settle(): void {
    while (soon.length > 0) {
      const due = soon;
      soon = [];
      for (const callback of due) callback();
    }
  }

  function nextTimer(untilMs: number) {
    const due = [...timers].filter((timer) => timer.at <= untilMs);
    return due.sort((a, b) => a.at - b.at)[0];
  }

  return {
    now: () => now,
    wall: () => startMs + now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    soon: (callback) => {
      soon.push(callback);
    },
    atTurnEnd: (callback) => {
      soon.push(callback);
    },
    advance(ms) {
      const until = now + ms;
      settle();
      for (let timer = nextTimer(until); timer !== undefined; timer = nextTimer(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.callback();
        settle();
      }
      now = until;
    },
    settle,
    get pending() {
      return timers.size;
    },
  };
}
