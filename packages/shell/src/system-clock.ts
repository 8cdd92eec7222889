import type { Clock } from '@iop/domain';

/** Longest time that a timer of the platform can wait. */
const longestMs = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => performance.now(),
    wall: () => Date.now(),
    after,
    // Behind the promises that settle in this tick, so that what they do leaves in the same write.
    soon: (callback) => queueMicrotask(() => process.nextTick(callback)),
    atTurnEnd: (callback) => void setImmediate(callback),
  };
}

function after(delayMs: number, callback: () => void): () => void {
  let timer = arm(delayMs);
  function arm(restMs: number): NodeJS.Timeout {
    if (restMs <= longestMs) return setTimeout(callback, restMs);
    return setTimeout(() => {
      timer = arm(restMs - longestMs);
    }, longestMs);
  }
  return () => clearTimeout(timer);
}
