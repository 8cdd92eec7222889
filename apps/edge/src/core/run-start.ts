import type { Found } from './admission.ts';
import { ownerConsumed } from './attempt-events.ts';
import type { AttachedRun, RunIntent, RunReader, RunSelect, StartOutcome } from './door.ts';
import type { KeyAccess } from './key-access.ts';
import type { KeyGate } from './key-gate.ts';
import { formatRate } from './key-policy.ts';
import { type Run, type RunContext, recordOf } from './run.ts';
import { cancelRun } from './run-cancel.ts';
import { dispatchRun, waitForPlace } from './run-dispatch.ts';
import type { Demand } from './waiting-line.ts';

export interface StartDeps {
  ctx: RunContext;
  keys: Pick<KeyAccess, 'gateOf' | 'mayUse' | 'nearest'>;
  newRunId(): string;
  isStopping(): boolean;
  /** Runs in line now. */
  queued(): number;
  /** Why nothing can execute it now, for people; and when to come back. */
  explainNoNode(select: RunSelect): { detail: string; retryAfterMs: number };
  /** What keeps runs away from every place that it could have. */
  explainBlocked(select: RunSelect): string;
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

type Refused = Exclude<StartOutcome, { kind: 'accepted' }>;

interface Sought {
  found: Found;
  key: KeyGate | undefined;
}

function refusalOf(deps: StartDeps, intent: RunIntent, { found, key }: Sought): Refused | undefined {
  const { select, dialect } = intent;
  const asked = askedOf(select);
  // judged after the search, which may have brought the catalogue up to date
  if (found.kind !== 'unknown' && key !== undefined && !deps.keys.mayUse(key, select)) {
    return { kind: 'forbidden-target', asked, keyId: key.id };
  }
  if (found.kind === 'unsupported-dialect') return { kind: 'unsupported-dialect', asked, dialect };
  if (found.kind === 'blocked') return blocked(deps, select, found.untilMs);
  if (found.kind === 'no-node' || (found.kind === 'unknown' && deps.isSettling())) {
    return { kind: 'no-node', asked, ...deps.explainNoNode(select) };
  }
  if (found.kind === 'unknown') {
    const nearest = key?.isRestricted ? deps.keys.nearest(key, asked) : found.nearest;
    return { kind: 'unknown-target', asked, nearest };
  }
  return waitRefusal(deps, asked, { found, key });
}

/** Whoever finds no place now may wait, while there is room in the line. */
function waitRefusal(deps: StartDeps, asked: string, { found, key }: Sought): Refused | undefined {
  if (found.kind === 'free' && hasRoom(key)) return undefined;
  const { queue: limit, queueWaitMs } = deps.ctx.settings().limits;
  const queued = deps.queued();
  const { active, pace } = deps.ctx;
  if (key !== undefined && !key.hasRoom()) {
    if (queued < limit && queueWaitMs > 0) return undefined;
    const retryAfterMs = pace.retryAfterMs(0, key.running);
    return { kind: 'key-busy', keyId: key.id, limit: key.policy?.concurrency ?? 0, retryAfterMs };
  }
  if (queued < limit) return undefined;
  const retryAfterMs = pace.retryAfterMs(queued, active.size - queued);
  return { kind: 'queue-full', asked, limit, retryAfterMs };
}

function blocked({ ctx, explainBlocked }: StartDeps, select: RunSelect, untilMs: number): Refused {
  const retryAfterMs = Math.max(1, untilMs - ctx.clock.now());
  return { kind: 'no-node', asked: askedOf(select), detail: explainBlocked(select), retryAfterMs };
}

function hasRoom(key: KeyGate | undefined): boolean {
  return key === undefined || key.hasRoom();
}

/** Asked last: a run that is refused for anything else costs nothing of the rate. */
function rateRefusal({ clock }: RunContext, key: KeyGate | undefined): Refused | undefined {
  const rate = key?.policy?.rate;
  if (key === undefined || rate === undefined) return undefined;
  const retryAfterMs = key.spend(clock.now());
  if (retryAfterMs === 0) return undefined;
  return { kind: 'key-rate', keyId: key.id, limit: formatRate(rate), retryAfterMs };
}

export function askedOf(select: RunSelect): string {
  return select.kind === 'model' ? select.model : `${select.adapter}/${select.target}`;
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
