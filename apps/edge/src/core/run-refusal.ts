import type { Found } from './admission.ts';
import type { RunIntent, RunSelect, StartOutcome } from './door.ts';
import type { KeyAccess } from './key-access.ts';
import type { KeyGate } from './key-gate.ts';
import { formatRate } from './key-policy.ts';
import type { RunContext } from './run.ts';

export interface RefusalDeps {
  ctx: RunContext;
  keys: Pick<KeyAccess, 'gateOf' | 'mayUse' | 'nearest'>;
  /** Runs in line now. */
  queued(): number;
  /** Why nothing can execute it now, for people; and when to come back. */
  explainNoNode(select: RunSelect): { detail: string; retryAfterMs: number };
  /** What keeps runs away from every place that it could have. */
  explainBlocked(select: RunSelect): string;
  /** An unknown name may still turn up, because Nodes are on their way back. */
  isSettling(): boolean;
}

export type Refused = Exclude<StartOutcome, { kind: 'accepted' }>;

/** What `start` has found out about a run. */
export interface Sought {
  found: Found;
  key: KeyGate | undefined;
}

/** Why a run is not taken in; undefined: it is. */
export function refusalOf(deps: RefusalDeps, intent: RunIntent, { found, key }: Sought): Refused | undefined {
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
function waitRefusal(deps: RefusalDeps, asked: string, { found, key }: Sought): Refused | undefined {
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

function blocked({ ctx, explainBlocked }: RefusalDeps, select: RunSelect, untilMs: number): Refused {
  const retryAfterMs = Math.max(1, untilMs - ctx.clock.now());
  return { kind: 'no-node', asked: askedOf(select), detail: explainBlocked(select), retryAfterMs };
}

export function hasRoom(key: KeyGate | undefined): boolean {
  return key === undefined || key.hasRoom();
}

/** Asked last: a run that is refused for anything else costs nothing of the rate. */
export function rateRefusal({ clock }: RunContext, key: KeyGate | undefined): Refused | undefined {
  const rate = key?.policy?.rate;
  if (key === undefined || rate === undefined) return undefined;
  const retryAfterMs = key.spend(clock.now());
  if (retryAfterMs === 0) return undefined;
  return { kind: 'key-rate', keyId: key.id, limit: formatRate(rate), retryAfterMs };
}

export function askedOf(select: RunSelect): string {
  return select.kind === 'model' ? select.model : `${select.adapter}/${select.target}`;
}
