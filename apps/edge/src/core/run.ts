import {
  type CancelCause,
  type Clock,
  canTransition,
  IopError,
  isRunEndState,
  type LiveMap,
  type RunEnd,
  type RunState,
  type Usage,
} from '@iop/domain';
import type { Dialect, RawRequest } from '@iop/runtime';
import type { RunLog } from '../ports/run-log.ts';
import type { RunOrders } from '../ports/run-orders.ts';
import type { RunClass, RunRecord, RunRecords } from '../ports/run-records.ts';
import type { Admission } from './admission.ts';
import type { Attempt, AttemptHandlers } from './attempt.ts';
import type { Counters } from './counters.ts';
import type { RunReader, RunSelect } from './door.ts';
import type { KeyGate } from './key-gate.ts';
import type { LogTail } from './log-tail.ts';
import type { Pace } from './pace.ts';
import type { Cursor } from './run-cursor.ts';
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
  readonly runClass: RunClass;
  readonly stored: boolean;
  /** The log keeps its content, not only what the Edge itself has to say. */
  readonly keepsContent: boolean;
  /** Of the newest event in its log; 0: none. */
  lastPos: number;
  /** Of the newest event that whoever looks may be shown: of a detached run, that is committed. */
  shownPos: number;
  /** The owner that came with it; undefined: it is read by cursors only. */
  reader: RunReader | undefined;
  readonly cursors: Set<Cursor>;
  /** The last of its content where the log keeps none; undefined: none yet, or the log keeps it. */
  tail: LogTail | undefined;
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
  /** Longest life; 0: no limit. */
  readonly limitMs: number;
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
  /** Since when it waits for a place; monotonic. */
  waitingSinceMs: number;
  readonly createdAtMs: number;
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  /** Decided; of a detached run `state` follows when it is committed. */
  end: RunEnd | undefined;
}

/** What the functions of `run-*.ts` work with. */
export interface RunContext {
  readonly clock: Clock;
  readonly settings: () => EdgeSettings;
  readonly admission: Admission;
  readonly records: RunRecords;
  readonly log: RunLog;
  readonly orders: RunOrders;
  readonly counters: Counters;
  readonly pace: Pace;
  /** Every run without an end, by id. */
  readonly active: LiveMap<string, Run>;
  readonly handlers: AttemptHandlers;
}

/** Its one end is decided: nothing else can become of it. */
export function hasEnded(run: Run): boolean {
  return run.end !== undefined;
}

/** Without a word in its log: what goes without saying. */
export function setState(run: Run, to: RunState): void {
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
  const isOver = isRunEndState(run.state);
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
    endedAtMs: isOver ? run.endedAtMs : undefined,
    end: isOver ? run.end : undefined,
    runClass: run.runClass,
    stored: run.stored,
    lastPos: run.lastPos,
    stopCause: isOver ? undefined : run.stopCause,
    nodeInstance: run.attempt?.instance ?? '',
    committed: run.committed,
    stale: '',
  };
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
