import type { RunEnd, RunFailure, RunState } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';

/**
 * The log of every run: one gap-free sequence of events, numbered by `pos` from 1, over all attempts and the Edge's
 * own events.
 *
 * G1: `append` never waits and never throws. Batches of one run are given in order, without gaps and without
 *     overlap, and are written in that order, in one transaction with what `RunRecords` was given before them.
 * G2: `committed` is called at most once, in the order of the batches of its run, after the batch has survived a
 *     power cut (FULL). A batch without it is written within 500 ms (NORMAL), or with a record.
 * G3: `read` sees everything that was appended before the call. What is gone (retention, content that is not kept,
 *     batches that were given up while the disk was away) is missing from its front: `firstPos` says how much.
 * G4: batches that somebody waits for are never given up; others are, beyond a bound of memory, and counted.
 */
export interface RunLog {
  append(batch: LogBatch): void;
  /** Rejects with an `unavailable` IopError. */
  read(query: LogQuery): Promise<LogPage>;
}

export interface LogBatch {
  runId: string;
  /** pos of `events[0]`. */
  firstPos: number;
  events: readonly LogEvent[];
  /** The attempt that said it, and its seq of the last of them; 0: the Edge itself. */
  attempt: number;
  lastSeq: number;
  /** False: only the Edge's own events are written; content takes its pos and leaves a gap. */
  keepContent: boolean;
  committed?: () => void;
}

export interface LogQuery {
  runId: string;
  afterPos: number;
  /** About so many bytes of events, one event at least. */
  limitBytes: number;
}

export interface LogPage {
  /** pos of `events[0]`; more than `afterPos + 1`: what lies between is gone. */
  firstPos: number;
  /** Empty: nothing is there after `afterPos` (any more, or yet). */
  events: readonly LogEvent[];
}

/** What the log of a run is made of. */
export type LogEvent = RuntimeEvent | OwnEvent;

/** What the Edge itself has to say of a run. The last event of every log is its `end`. */
export type OwnEvent =
  | AttemptEvent
  /** The attempt is over and the run is not. */
  | { kind: 'attempt-end'; attempt: number; failure: RunFailure }
  | { kind: 'state'; state: RunState }
  | { kind: 'end'; end: RunEnd };

/** The run was dispatched. */
export interface AttemptEvent {
  kind: 'attempt';
  attempt: number;
  node: string;
  adapter: string;
  target: string;
  /** Why there, for people. */
  route: string;
  /** How long it had waited for a place. */
  waitedMs: number;
  /** Every place that was thought of. */
  candidates: readonly Candidate[];
}

/** A place as it was when the run was dispatched. */
export interface Candidate {
  node: string;
  adapter: string;
  target: string;
  verdict: Verdict;
  /** Runs of this Edge there. */
  running: number;
  /** 0: no limit. */
  limit: number;
}

export const verdicts = [
  'chosen',
  'free',
  'busy',
  'kept-away',
  'on-trial',
  'other-dialect',
  'failed-before',
  'away',
] as const;
export type Verdict = (typeof verdicts)[number];

export function isOwnEvent(event: LogEvent): event is OwnEvent {
  return (
    event.kind === 'attempt' || event.kind === 'attempt-end' || event.kind === 'state' || event.kind === 'end'
  );
}
