import type { Clock } from '@iop/domain';

/** The real clock, for tests over real sockets. (Programs take theirs from the shell.) */
export function createTestClock(): Clock {
  return {
    now: () => performance.now(),
    wall: () => Date.now(),
    after: (delayMs, callback) => {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    soon: (callback) => process.nextTick(callback),
    atTurnEnd: (callback) => void setImmediate(callback),
  };
}
