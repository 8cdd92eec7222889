import type { RunEnd } from '@iop/domain';
import type { AttemptRef } from './end-store.ts';

/**
 * The Node's own history of what it executed: metadata, no content.
 *
 * S1: `startRun` and `completeRun` never throw, and take no time: they are written behind, together. Only the start of a detached
 *     run outlives the process from the moment it was given.
 * S2: `recent`, `has` and `flush` see everything that was given before them.
 * S3: a run that was open when the process died is found as failed `node.restarted` by the next one.
 * S4: the oldest records go when there are more than the bound.
 */
export interface RunStore {
  startRun(run: RunStart): void;
  /** Ignored for an attempt that was never started. */
  completeRun(run: RunCompletion): void;
  /** Whether this or a later attempt of the run was started. */
  has(ref: AttemptRef): boolean;
  /** Newest first. */
  recent(limit: number): readonly RunRecord[];
  /** Writes what waits; throws if it cannot be written. */
  flush(): void;
  /** Flushes and closes. */
  close(): void;
}

export interface RunStart {
  runId: string;
  attempt: number;
  runClass: 'attached' | 'detached';
  adapter: string;
  target: string;
  door: string;
  /** Milliseconds since 1970. */
  startedAtMs: number;
}

export interface RunCompletion {
  runId: string;
  attempt: number;
  end: RunEnd;
  endedAtMs: number;
}

export interface RunRecord extends RunStart {
  /** Undefined while it runs. */
  endedAtMs: number | undefined;
  end: RecordedEnd | undefined;
}

/** What history keeps of an end. */
export interface RecordedEnd {
  kind: RunEnd['kind'];
  /** Finish reason, failure code, or who cancelled. */
  reason: string;
  /** Of a failure; empty otherwise. */
  message: string;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
}

export function toRecordedEnd(end: RunEnd): RecordedEnd {
  const base = {
    kind: end.kind,
    promptTokens: end.usage?.promptTokens,
    completionTokens: end.usage?.completionTokens,
  };
  if (end.kind === 'completed') return { ...base, reason: end.finish, message: '' };
  if (end.kind === 'cancelled') return { ...base, reason: end.by, message: '' };
  return { ...base, reason: end.failure.code, message: end.failure.message };
}
