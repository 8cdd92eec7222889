import type { Found } from './admission.ts';
import { ownerConsumed } from './attempt-events.ts';
import type { AttachedRun, RunIntent, RunReader, RunSelect, StartOutcome } from './door.ts';
import { type Run, type RunContext, recordOf } from './run.ts';
import { cancelRun } from './run-cancel.ts';
import { dispatchRun, waitForPlace } from './run-dispatch.ts';
import type { Demand } from './waiting-line.ts';

export interface StartDeps {
  ctx: RunContext;
  newRunId(): string;
  isStopping(): boolean;
  /** Runs in line now. */
  queued(): number;
  /** Why nothing can execute it now, for people; and when to come back. */
  explainNoNode(select: RunSelect): { detail: string; retryAfterMs: number };
  /** The catalogue may be a moment behind: brings it up to date; false: it was. */
  catchUp(): boolean;
  /** An unknown name may still turn up, because Nodes are on their way back. */
  isSettling(): boolean;
}

/** Takes a run in: dispatches it, puts it in line, or says why not. */
export function createStart(deps: StartDeps): (intent: RunIntent, reader: RunReader) => StartOutcome {
  const { ctx } = deps;
  let order = 0;

  return (intent, reader) => {
    if (deps.isStopping()) return { kind: 'stopping' };
    const { select, dialect } = intent;
    const found = findNow(deps, { select, dialect, excluded: [] });
    const refusal = refusalOf(deps, intent, found);
    if (refusal !== undefined) {
      ctx.counters.refused.set(refusal.kind, (ctx.counters.refused.get(refusal.kind) ?? 0) + 1);
      return refusal;
    }
    const run = createRun(ctx, { id: deps.newRunId(), order: ++order, intent, reader });
    ctx.active.set(run.id, run);
    ctx.counters.started++;
    armDeadline(ctx, run);
    if (found.kind === 'free') {
      ctx.admission.take(found.place);
      dispatchRun(ctx, run, found.place);
    } else {
      ctx.records.save(recordOf(run));
      waitForPlace(ctx, run, { waitMs: ctx.settings().limits.queueWaitMs });
    }
    return { kind: 'accepted', run: ownerOf(ctx, run) };
  };
}

/** Nobody is turned away because a Node that is ready is not in the catalogue yet. */
function findNow({ ctx, catchUp }: StartDeps, demand: Demand): Found {
  const found = ctx.admission.find(demand);
  const isMissing = found.kind === 'no-node' || found.kind === 'unknown';
  return isMissing && catchUp() ? ctx.admission.find(demand) : found;
}

function refusalOf(deps: StartDeps, intent: RunIntent, found: Found): StartOutcome | undefined {
  const { select, dialect } = intent;
  const asked = askedOf(select);
  if (found.kind === 'free') return undefined;
  if (found.kind === 'unsupported-dialect') return { kind: 'unsupported-dialect', asked, dialect };
  if (found.kind === 'no-node' || (found.kind === 'unknown' && deps.isSettling())) {
    return { kind: 'no-node', asked, ...deps.explainNoNode(select) };
  }
  if (found.kind === 'unknown') return { kind: 'unknown-target', asked, nearest: found.nearest };
  const limit = deps.ctx.settings().limits.queue;
  if (deps.queued() < limit) return undefined;
  return { kind: 'queue-full', asked, limit, retryAfterMs: queueFullRetryMs };
}

const queueFullRetryMs = 1000;

export function askedOf(select: RunSelect): string {
  return select.kind === 'model' ? select.model : `${select.adapter}/${select.target}`;
}

function createRun(
  ctx: RunContext,
  { id, order, intent, reader }: { id: string; order: number; intent: RunIntent; reader: RunReader },
): Run {
  const limitMs = intent.deadlineMs ?? ctx.settings().limits.runDeadlineMs;
  return {
    id,
    order,
    door: intent.door,
    keyId: intent.keyId,
    select: intent.select,
    asked: askedOf(intent.select),
    dialect: intent.dialect,
    raw: intent.raw,
    stream: intent.stream,
    includeUsage: intent.includeUsage,
    reader,
    body: intent.body,
    state: 'queued',
    attempts: 0,
    attempt: undefined,
    committed: false,
    stopCause: undefined,
    waiter: undefined,
    tried: noNodes,
    usage: undefined,
    staleBytes: 0,
    deadlineAtMs: limitMs > 0 ? ctx.clock.now() + limitMs : undefined,
    cancelDeadline: undefined,
    cancelWait: undefined,
    cancelStop: undefined,
    adapter: intent.select.kind === 'target' ? intent.select.adapter : '',
    target: intent.select.kind === 'target' ? intent.select.target : '',
    node: '',
    createdAtMs: ctx.clock.wall(),
    startedAtMs: undefined,
    endedAtMs: undefined,
    end: undefined,
  };
}

const noNodes: readonly string[] = [];

function armDeadline(ctx: RunContext, run: Run): void {
  if (run.deadlineAtMs === undefined) return;
  run.cancelDeadline = ctx.clock.after(run.deadlineAtMs - ctx.clock.now(), () => {
    cancelRun(ctx, run, 'deadline');
  });
}

function ownerOf(ctx: RunContext, run: Run): AttachedRun {
  return {
    id: run.id,
    consumed: (sizeBytes) => ownerConsumed(run, sizeBytes),
    cancel: (by) => cancelRun(ctx, run, by),
  };
}
