import type { CancelCause, RunEnd, RunFailure } from '@iop/domain';
import type { RawRequest } from '@iop/runtime';

/** A dispatched attempt, as the Edge hands it over. */
export interface RunRequest {
  runId: string;
  /** Counts dispatches of the run from 1; a higher one fences the lower. */
  attempt: number;
  runClass: 'attached' | 'detached';
  adapter: string;
  target: string;
  dialect: string;
  stream: boolean;
  includeUsage: boolean;
  /** The caller's bytes, if they are all here; undefined: they follow by `onRunBody`. */
  body: Uint8Array | undefined;
  bodySizeBytes: number;
  /** Time it may take from now; 0: no limit. */
  deadlineMs: number;
  door: string;
  /** Present exactly if `dialect` is `openai.raw`. */
  raw?: RawRequest;
}

/**
 * accepted: its events and its end follow on the channel (also if it was refused in substance).
 * stale: this attempt, or a later one, is already known; nothing was done.
 */
export type RunOutcome = { kind: 'accepted' } | { kind: 'stale' };

/** Why an attempt is being stopped; the first reason counts. */
export type StopReason = { kind: 'cancel'; by: CancelCause } | { kind: 'fail'; failure: RunFailure };

/** The end of an attempt, of what the adapter resolved with and why it was stopped, if it was. */
export function settleEnd(end: RunEnd, stop: StopReason | undefined): RunEnd {
  // It was whole before the stop took effect: the first end wins.
  if (end.kind === 'completed') return end;
  const usage = end.usage === undefined ? {} : { usage: end.usage };
  if (stop?.kind === 'cancel') return { kind: 'cancelled', by: stop.by, ...usage };
  if (stop?.kind === 'fail') return { kind: 'failed', failure: stop.failure, ...usage };
  if (end.kind === 'failed') return end;
  return failed('internal', 'adapter.bug', 'the adapter cancelled a run that nobody cancelled');
}

export function failed(kind: RunFailure['kind'], code: string, message: string, retryable = false): RunEnd {
  return { kind: 'failed', failure: failure(kind, code, message, retryable) };
}

export function failure(
  kind: RunFailure['kind'],
  code: string,
  message: string,
  retryable = false,
): RunFailure {
  return { kind, code, message, details: {}, retryable };
}
