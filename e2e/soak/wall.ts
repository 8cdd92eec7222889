/** Milliseconds since 1970 of a `performance.now()`, of now unless given. */
export function wallMs(at = performance.now()): number {
  return performance.timeOrigin + at;
}
