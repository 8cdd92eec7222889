import type { Found } from './admission.ts';
import { ownerConsumed, passOnAll } from './attempt-events.ts';
import type { AttachedRun, RunCreation, RunIntent, RunReader, StartOutcome } from './door.ts';
import type { KeyGate } from './key-gate.ts';
import { type Run, type RunContext, recordOf } from './run.ts';
import { cancelRun } from './run-cancel.ts';
import { demandOf, dispatchRun, waitForPlace } from './run-dispatch.ts';
import { isOwned } from './run-open.ts';
import { orderOf } from './run-order.ts';
import {
  askedOf,
  hasRoom,
  type RefusalDeps,
  type Refused,
  rateRefusal,
  refusalOf,
  type Sought,
} from './run-refusal.ts';
import type { Demand } from './waiting-line.ts';

export interface StartDeps extends RefusalDeps {
  newRunId(): string;
  nextOrder(): number;
  isStopping(): boolean;
  /** The catalogue may be a moment behind: brings it up to date; false: it was. */
  catchUp(): boolean;
}

/** Takes an attached run in: dispatches it, puts it in line, or says why not. */
export function createStart(deps: StartDeps): (intent: RunIntent, reader: RunReader) => StartOutcome {
  const { ctx } = deps;
  return (intent, reader) => {
    const judged = judge(deps, intent);
    if (judged.kind !== 'taken') return judged;
    const run = createRun(deps, { intent, reader, key: judged.key });
    if (run.stored) ctx.orders.keep(orderOf(run, intent));
    launchRun(ctx, run, judged.found);
    return { kind: 'accepted', run: ownerOf(ctx, run) };
  };
}

export type Judged = { kind: 'taken'; found: Found; key: KeyGate | undefined } | Refused;

/** Whether a run is taken in. */
export function judge(deps: StartDeps, intent: RunIntent): Judged {
  if (deps.isStopping()) return { kind: 'stopping' };
  const { ctx } = deps;
  const { select, dialect } = intent;
  const key = gateOf(deps, intent);
  const found = findNow(deps, { select, dialect, excluded: noPlaces });
  const refusal = refusalOf(deps, intent, { found, key }) ?? rateRefusal(ctx, key);
  if (refusal === undefined) return { kind: 'taken', found, key };
  ctx.counters.refused.set(refusal.kind, (ctx.counters.refused.get(refusal.kind) ?? 0) + 1);
  return refusal;
}

/** An operator may do everything, whatever its name. */
export function gateOf(
  { keys }: Pick<StartDeps, 'keys'>,
  run: Pick<Run, 'door' | 'keyId'>,
): KeyGate | undefined {
  return run.door === 'native' ? undefined : keys.gateOf(run.keyId);
}

/** Sends it off: to a place that is free, or into the line. */
export function launchRun(ctx: RunContext, run: Run, sought?: Found): void {
  ctx.active.set(run.id, run);
  ctx.counters.started++;
  armDeadline(ctx, run);
  const found = sought ?? ctx.admission.find(demandOf(run));
  if (found.kind === 'free' && hasRoom(run.key)) {
    ctx.admission.take(found.pick);
    dispatchRun(ctx, run, found.pick);
  } else {
    ctx.records.save(recordOf(run));
    const { queueWaitMs, detachedQueueWaitMs } = ctx.settings().limits;
    waitForPlace(ctx, run, { waitMs: run.runClass === 'detached' ? detachedQueueWaitMs : queueWaitMs });
  }
}

/** Nobody is turned away because a Node that is ready is not in the catalogue yet. */
function findNow({ ctx, catchUp }: StartDeps, demand: Demand): Found {
  const found = ctx.admission.find(demand);
  const isMissing = found.kind === 'no-node' || found.kind === 'unknown';
  return isMissing && catchUp() ? ctx.admission.find(demand) : found;
}

interface NewRun extends Pick<Sought, 'key'> {
  intent: Omit<RunIntent, 'door'> & { door: string } & Partial<Pick<RunCreation, 'runClass' | 'idempotency'>>;
  /** undefined: cursors read it. */
  reader: RunReader | undefined;
  /** Of a run that there was before. */
  id?: string;
}

export function createRun({ ctx, newRunId, nextOrder }: StartDeps, { intent, reader, key, id }: NewRun): Run {
  const { limits, history } = ctx.settings();
  const limitMs = intent.deadlineMs ?? limits.runDeadlineMs;
  const { runClass = 'attached', stored = runClass === 'detached' } = intent;
  return {
    id: id ?? newRunId(),
    order: nextOrder(),
    door: intent.door,
    keyId: intent.keyId,
    key,
    holdsKey: false,
    select: intent.select,
    asked: askedOf(intent.select),
    dialect: intent.dialect,
    raw: intent.raw,
    stream: intent.stream,
    includeUsage: intent.includeUsage,
    runClass,
    stored,
    // a repeat of its key, or whoever resumes it, reads it from the beginning
    keepsContent: stored || intent.idempotency !== undefined || history.content === 'full',
    lastPos: 0,
    shownPos: 0,
    reader,
    cursors: new Set(),
    tail: undefined,
    limitMs,
    body: intent.body,
    state: 'queued',
    attempts: 0,
    attempt: undefined,
    committed: false,
    stopCause: undefined,
    waiter: undefined,
    tried: noPlaces,
    lastFailure: '',
    usage: undefined,
    staleBytes: 0,
    deadlineAtMs: limitMs > 0 ? ctx.clock.now() + limitMs : undefined,
    cancelDeadline: undefined,
    cancelWait: undefined,
    cancelStop: undefined,
    adapter: intent.select.kind === 'target' ? intent.select.adapter : '',
    target: intent.select.kind === 'target' ? intent.select.target : '',
    node: '',
    route: '',
    waitingSinceMs: ctx.clock.now(),
    createdAtMs: ctx.clock.wall(),
    startedAtMs: undefined,
    endedAtMs: undefined,
    end: undefined,
  };
}

const noPlaces: readonly string[] = [];

export function armDeadline(ctx: RunContext, run: Run): void {
  if (run.deadlineAtMs === undefined) return;
  run.cancelDeadline = ctx.clock.after(run.deadlineAtMs - ctx.clock.now(), () => {
    cancelRun(ctx, run, 'deadline');
  });
}

function ownerOf(ctx: RunContext, run: Run): AttachedRun {
  return {
    id: run.id,
    consumed: (sizeBytes) => ownerConsumed(run, sizeBytes),
    cancel(by) {
      if (by === 'caller' && leaveToOthers(run)) return;
      cancelRun(ctx, run, by);
    },
  };
}

/** Other owners are left: the run goes on for them, and nobody holds its credit any more. */
function leaveToOthers(run: Run): boolean {
  const { reader } = run;
  run.reader = undefined;
  const { attempt } = run;
  if (!isOwned(run)) {
    run.reader = reader;
    return false;
  }
  if (attempt !== undefined) passOnAll(attempt);
  return true;
}
