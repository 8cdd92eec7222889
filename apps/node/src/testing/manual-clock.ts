import type { Clock } from '@iop/domain';

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Goes on by so much, calling what becomes due, in order. */
  advance(ms: number): void;
  /** Calls that are armed now. */
  readonly armed: number;
}

export function createManualClock(startMs = 1_000): ManualClock {
  let now = startMs;
  const due = new Set<{ atMs: number; callback: () => void }>();
  const next = () => [...due].sort((a, b) => a.atMs - b.atMs)[0];
  return {
    now: () => now,
    wall: () => 1_700_000_000_000 + now,
    after(delayMs, callback) {
      const timer = { atMs: now + delayMs, callback };
      due.add(timer);
      return () => due.delete(timer);
    },
    soon: (callback) => queueMicrotask(callback),
    advance(ms) {
      const until = now + ms;
      for (let timer = next(); timer !== undefined && timer.atMs <= until; timer = next()) {
        due.delete(timer);
        now = Math.max(now, timer.atMs);
        timer.callback();
      }
      now = until;
    },
    get armed() {
      return due.size;
    },
  };
}
