/**
 * Microseconds of the machine's monotonic clock: the same in every process, so a stamp written by the
 * mock can be compared where it arrives. `performance.now()` counts on that clock from another zero.
 */
const zeroUs = measureZeroUs();

export function monotonicUs(): number {
  return performance.now() * 1000 + zeroUs;
}

/** From the tightest of many looks: whoever is put to sleep between the two clocks is off by as much. */
function measureZeroUs(): number {
  let best = { spanUs: Number.POSITIVE_INFINITY, zeroUs: 0 };
  for (let look = 0; look < 200; look++) {
    const beforeUs = performance.now() * 1000;
    const [seconds, nanoseconds] = process.hrtime();
    const spanUs = performance.now() * 1000 - beforeUs;
    const zero = seconds * 1e6 + nanoseconds / 1000 - beforeUs - spanUs / 2;
    if (spanUs < best.spanUs) best = { spanUs, zeroUs: zero };
  }
  return best.zeroUs;
}
