import type { RunEnd } from '@iop/domain';
import type { LogEvent } from '../../ports/run-log.ts';
import type { Refusal } from '../http/refusal.ts';

/** What a caller is shown of a run, wherever its events come from. Nothing is called after `end` or `broken`. */
export interface Showing {
  /** `sizeBytes` is what these events take of the window of their source. */
  take(events: readonly LogEvent[], sizeBytes: number): void;
  /** @param endedAtMs milliseconds since 1970 */
  end(end: RunEnd, endedAtMs: number): void;
  /** The run goes on or not: nothing more of it can be had here. */
  broken(refusal: Refusal): void;
}

/** Where the events come from, in the hands of what shows them. */
export interface RunSource {
  /** The caller has taken this much of the window. */
  consumed(sizeBytes: number): void;
  /** No more of it is wanted. What has no other owner is cancelled. */
  leave(): void;
}
