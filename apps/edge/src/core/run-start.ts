import type { Found } from './admission.ts';
import { ownerConsumed } from './attempt-events.ts';
import type { AttachedRun, RunIntent, RunReader, StartOutcome } from './door.ts';
import { type Run, type RunContext, recordOf } from './run.ts';
import { cancelRun } from './run-cancel.ts';
import { dispatchRun, waitForPlace } from './run-dispatch.ts';
import { askedOf, hasRoom, type RefusalDeps, rateRefusal, refusalOf, type Sought } from './run-refusal.ts';
import type { Demand } from './waiting-line.ts';

export interface StartDeps extends RefusalDeps {
  newRunId(): string;
  isStopping(): boolean;
  /** The catalogue may be a moment behind: brings it up to date; false: it was. */
  catchUp(): boolean;
}

/** Takes a run in: dispatches it, puts it in line, or says why not. */
export function createStart(deps: StartDeps): (intent: RunIntent, reader: RunReader) => StartOutcome {
  const { ctx } = deps;
  let order = 0;

  return (intent, reader) => {
    if (deps.isStopping()) return { kind: 'stopping' };
    const { select, dialect } = intent;
    // an operator may do everything, whatever its name
    const key = intent.door === 'native' ? undefined : deps.keys.gateOf(intent.keyId);
    const found = findNow(deps, { select, dialect, excluded: noPlaces });
    const refusal = refusalOf(deps, intent, { found, key }) ?? rateRefusal(ctx, key);
    if (refusal !== undefined) {
      ctx.counters.refused.set(refusal.kind, (ctx.counters.refused.get(refusal.kind) ?? 0) + 1);
      return refusal;
    }
    const run = createRun(ctx, { id: deps.newRunId(), order: ++order, intent, reader, key });
    ctx.active.set(run.id, run);
    ctx.counters.started++;
    armDeadline(ctx, run);
    if (found.kind === 'free' && hasRoom(key)) {
      ctx.admission.take(found.pick);
      dispatchRun(ctx, run, found.pick);
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

interface NewRun extends Pick<Sought, 'key'> {
  id: string;
  order: number;
  intent: RunIntent;
  reader: RunReader;
}

function createRun(ctx: RunContext, { id, order, intent, reader, key }: NewRun): Run {
  const limitMs = intent.deadlineMs ?? ctx.settings().limits.runDeadlineMs;
  return {
    id,
    order,
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
    reader,
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
    createdAtMs: ctx.clock.wall(),
    startedAtMs: undefined,
    endedAtMs: undefined,
    end: undefined,
  };
}

const noPlaces: readonly string[] = [];

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
