import {
  type CancelCause,
  type Clock,
  canTransition,
  IopError,
  isRunEndState,
  type LiveMap,
  type RunEnd,
  type RunFailure,
  type RunState,
  type Usage,
} from '@iop/domain';
import type { Dialect, RawRequest } from '@iop/runtime';
import type { RunRecord, RunRecords } from '../ports/run-records.ts';
import type { Admission } from './admission.ts';
import type { Attempt, AttemptHandlers } from './attempt.ts';
import type { Counters } from './counters.ts';
import type { RunReader, RunSelect } from './door.ts';
import type { KeyGate } from './key-gate.ts';
import { giveBackKey } from './key-hold.ts';
import type { Pace } from './pace.ts';
import type { EdgeSettings } from './settings.ts';
import type { Waiter } from './waiting-line.ts';

/** A live run. Changed only by the functions of `run-*.ts`. */
export interface Run {
  readonly id: string;
  /** Grows with every run: who came first goes first. */
  readonly order: number;
  readonly door: string;
  readonly keyId: string;
  /** What limits its key; undefined: no key, or an operator. */
  readonly key: KeyGate | undefined;
  holdsKey: boolean;
  readonly select: RunSelect;
  /** What was asked for, for people. */
  readonly asked: string;
  readonly dialect: Dialect;
  readonly raw: RawRequest | undefined;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly reader: RunReader;
  /** Kept while another attempt may need it, dropped at the commit boundary. */
  body: Uint8Array;
  state: RunState;
  /** Attempts so far; the current one is `attempt`. */
  attempts: number;
  attempt: Attempt | undefined;
  /** The first content was accepted: no other Node may try (E6). */
  committed: boolean;
  stopCause: CancelCause | undefined;
  waiter: Waiter | undefined;
  /** Ids of places whose attempt failed. */
  tried: readonly string[];
  /** How the last of them failed, for people. */
  lastFailure: string;
  usage: Usage | undefined;
  /** Bytes of an earlier attempt's events that the owner has not passed on yet. */
  staleBytes: number;
  /** Monotonic; undefined: no limit. */
  readonly deadlineAtMs: number | undefined;
  cancelDeadline: (() => void) | undefined;
  cancelWait: (() => void) | undefined;
  cancelStop: (() => void) | undefined;
  /** Of the last dispatch; before it what is known already. */
  adapter: string;
  target: string;
  node: string;
  /** Why there, for people; empty before the first dispatch. */
  route: string;
  readonly createdAtMs: number;
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  end: RunEnd | undefined;
}

/** What the functions of `run-*.ts` work with. */
export interface RunContext {
  readonly clock: Clock;
  readonly settings: () => EdgeSettings;
  readonly admission: Admission;
  readonly records: RunRecords;
  readonly counters: Counters;
  readonly pace: Pace;
  /** Every run without an end, by id. */
  readonly active: LiveMap<string, Run>;
  readonly handlers: AttemptHandlers;
}

export function moveRun(run: Run, to: RunState): void {
  if (run.state === to) return;
  if (!canTransition(run.state, to)) {
    throw new IopError({
      kind: 'internal',
      code: 'run.transition',
      message: `run ${run.id} cannot go from ${run.state} to ${to}; this is a bug of the Edge`,
      details: { from: run.state, to },
    });
  }
  run.state = to;
}

export function recordOf(run: Run): RunRecord {
  return {
    runId: run.id,
    state: run.state,
    door: run.door,
    keyId: run.keyId,
    asked: run.select.kind === 'model' ? run.asked : '',
    adapter: run.adapter,
    target: run.target,
    node: run.node,
    attempts: run.attempts,
    route: run.route,
    createdAtMs: run.createdAtMs,
    startedAtMs: run.startedAtMs,
    endedAtMs: run.endedAtMs,
    end: run.end,
  };
}

/** E1: the one end; a second one changes nothing. Whatever held the run's attempt has closed it before. */
export function finishRun(ctx: RunContext, run: Run, end: RunEnd): void {
  if (isRunEndState(run.state)) return;
  moveRun(run, end.kind);
  leaveLine(ctx, run);
  run.cancelDeadline?.();
  run.cancelStop?.();
  run.end = end.usage === undefined && run.usage !== undefined ? { ...end, usage: run.usage } : end;
  run.endedAtMs = ctx.clock.wall();
  if (end.kind === 'completed' && run.startedAtMs !== undefined)
    ctx.pace.note(run.endedAtMs - run.startedAtMs);
  run.body = noBytes;
  ctx.active.delete(run.id);
  ctx.records.save(recordOf(run));
  ctx.counters.ended(run.end);
  if (giveBackKey(run)) ctx.admission.retry();
  run.reader.end(run.end);
}

export function failRun(ctx: RunContext, run: Run, failure: RunFailure): void {
  finishRun(ctx, run, { kind: 'failed', failure });
}

/** E5: nothing of it stays in line. */
export function leaveLine(ctx: RunContext, run: Run): void {
  run.cancelWait?.();
  run.cancelWait = undefined;
  if (run.waiter === undefined) return;
  ctx.admission.leave(run.waiter);
  run.waiter = undefined;
}

export const noBytes = new Uint8Array(0);
