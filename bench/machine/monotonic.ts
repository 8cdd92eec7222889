/**
 * Microseconds of the machine's monotonic clock: the same in every process, so a stamp written by the
 * mock can be compared where it arrives. `performance.now()` counts on that clock from another zero.
 */
const zeroUs = measureZeroUs();

export function monotonicUs(): number {
  return performance.now() * 1000 + zeroUs;
}

function measureZeroUs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1000 - performance.now() * 1000;
}
