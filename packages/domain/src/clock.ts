/** Time as core sees it: passed in, so that tests own it. */
export interface Clock {
  /** Milliseconds of a monotonic clock: for time-outs, leases, durations. Never goes back. */
  now(): number;
  /** Milliseconds since 1970: for records and people only. May jump. */
  wall(): number;
  /** Calls back once after `delayMs`, unless the returned function is called first. */
  after(delayMs: number, callback: () => void): () => void;
  /** Calls back at the end of the current tick of the event loop, before any I/O. */
  soon(callback: () => void): void;
  /** Calls back when all input that was ready has been handled: several sockets' worth of work is one write. */
  atTurnEnd(callback: () => void): void;
}
