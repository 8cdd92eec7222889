import type { Candidate } from '../ports/run-log.ts';
import type { Catalogue } from './catalogue.ts';
import { type ChooseLimits, chooseInTier, type Pick } from './choose-place.ts';
import type { Place } from './places.ts';
import { surveyPlaces } from './survey.ts';
import { ordinal, payTurn, type Tier } from './tiers.ts';
import type { Demand, Waiter, WaitingLine } from './waiting-line.ts';

/** Whether a demand can be met now. */
export type Found =
  | { kind: 'free'; pick: Pick }
  /** A Node is up, all its places are taken. */
  | { kind: 'busy' }
  /** Nodes are up, and runs are kept away from all their places until then (monotonic). */
  | { kind: 'blocked'; untilMs: number }
  | { kind: 'unsupported-dialect' }
  | { kind: 'no-node' }
  | { kind: 'unknown'; nearest: readonly string[] };

/**
 * Who may run where, and who waits.
 *
 * E2: a place is taken once and given back once. E3: between two events no waiter could go, because
 * `release` and `retry` serve the line before they return; so whoever finds a free place overtakes nobody.
 */
export interface Admission {
  find(demand: Demand): Found;
  take(pick: Pick): void;
  /** Every place that the demand could have had, the chosen one first; a few dozen at most. */
  survey(demand: Demand, chosen: Place): Candidate[];
  /** A run of an earlier process of the Edge is there already. */
  occupy(place: Place): void;
  /** Gives a place back and serves the line. */
  release(place: Place): void;
  wait(waiter: Waiter): void;
  leave(waiter: Waiter): boolean;
  /** Serves the line after Nodes, settings, keys or the health of places have changed. */
  retry(): void;
}

export interface AdmissionDeps {
  catalogue: Catalogue;
  line: WaitingLine;
  /** Runs at once on one Node; 0: no limit. */
  nodeLimit(): number;
  /** Monotonic. */
  now(): number;
}

export function createAdmission({ catalogue, line, nodeLimit, now }: AdmissionDeps): Admission {
  let picks = 0;

  function find(demand: Demand): Found {
    const resolution = catalogue.resolve(demand.select);
    if (resolution.kind === 'unknown') return resolution;
    return findInTiers(resolution.tiers, demand, { nodeLimit: nodeLimit(), now });
  }

  function occupy(place: Place): void {
    place.node.total.running++;
    place.adapterSlot.running++;
    place.targetSlot.running++;
  }

  function take({ place, shares, turn }: Pick): void {
    occupy(place);
    place.node.lastPick = ++picks;
    if (shares !== undefined && turn !== undefined) payTurn(shares, turn);
  }

  function retry(): void {
    for (;;) {
      const next = nextInLine();
      if (next === undefined) return;
      line.leave(next.waiter);
      take(next.pick);
      next.waiter.grant(next.pick);
    }
  }

  function nextInLine(): { waiter: Waiter; pick: Pick } | undefined {
    if (line.length === 0) return undefined;
    let next: { waiter: Waiter; pick: Pick } | undefined;
    for (const waiter of line.heads()) {
      if (next !== undefined && next.waiter.order < waiter.order) continue;
      const found = find(waiter.demand);
      if (found.kind === 'free') next = { waiter, pick: found.pick };
    }
    return next;
  }

  return {
    find,
    take,
    occupy,
    survey(demand, chosen) {
      const resolution = catalogue.resolve(demand.select);
      const tiers = resolution.kind === 'unknown' ? [] : resolution.tiers;
      return surveyPlaces(tiers, { demand, chosen, limits: { nodeLimit: nodeLimit(), now } });
    },
    release(place) {
      place.node.total.running--;
      place.adapterSlot.running--;
      place.targetSlot.running--;
      retry();
    },
    wait: (waiter) => line.join(waiter),
    leave: (waiter) => line.leave(waiter),
    retry,
  };
}

/** The first tier that has a place, or will have one when somebody leaves. */
function findInTiers(tiers: readonly Tier[], demand: Demand, limits: ChooseLimits): Found {
  let blockedUntilMs = Infinity;
  let otherDialect = false;
  let passedOver = '';
  let choice = 0;
  for (const tier of tiers) {
    choice++;
    const found = chooseInTier(tier, demand, limits);
    if (found.kind === 'busy') return found;
    if (found.kind === 'free') return passedOver === '' ? found : explained(found.pick, passedOver);
    if (found.kind === 'blocked') blockedUntilMs = Math.min(blockedUntilMs, found.untilMs);
    otherDialect ||= found.kind === 'unsupported-dialect';
    if (tiers.length > 1) passedOver += `; ${ordinal(choice)}: ${wordsOf(found, limits.now())}`;
  }
  if (blockedUntilMs < Infinity) return { kind: 'blocked', untilMs: blockedUntilMs };
  return { kind: otherDialect ? 'unsupported-dialect' : 'no-node' };
}

function explained(pick: Pick, passedOver: string): Found {
  return { kind: 'free', pick: { ...pick, route: pick.route + passedOver } };
}

function wordsOf(found: Exclude<Found, { kind: 'free' | 'unknown' | 'busy' }>, nowMs: number): string {
  if (found.kind === 'blocked') return `breaker open for ${Math.ceil((found.untilMs - nowMs) / 1000)} s`;
  return found.kind === 'no-node' ? 'no Node up' : 'other dialect';
}
