import type { Catalogue } from './catalogue.ts';
import { nodeState } from './node-entry.ts';
import type { Place } from './places.ts';
import type { Demand, Waiter, WaitingLine } from './waiting-line.ts';

/** Whether a demand can be met now. */
export type Found =
  | { kind: 'free'; place: Place }
  /** A Node is up, all its places are taken. */
  | { kind: 'busy' }
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
  take(place: Place): void;
  /** Gives a place back and serves the line. */
  release(place: Place): void;
  wait(waiter: Waiter): void;
  leave(waiter: Waiter): boolean;
  /** Serves the line after Nodes or settings have changed. */
  retry(): void;
}

export interface AdmissionDeps {
  catalogue: Catalogue;
  line: WaitingLine;
  /** Runs at once on one Node; 0: no limit. */
  nodeLimit(): number;
}

export function createAdmission({ catalogue, line, nodeLimit }: AdmissionDeps): Admission {
  let picks = 0;

  function find(demand: Demand): Found {
    const resolution = catalogue.resolve(demand.select);
    if (resolution.kind === 'unknown') return resolution;
    let otherDialect = false;
    for (const tier of resolution.tiers) {
      const found = findInTier(tier, demand, nodeLimit());
      if (found.kind === 'free' || found.kind === 'busy') return found;
      otherDialect ||= found.kind === 'unsupported-dialect';
    }
    return otherDialect ? { kind: 'unsupported-dialect' } : { kind: 'no-node' };
  }

  function take(place: Place): void {
    place.node.total.running++;
    place.adapterSlot.running++;
    place.targetSlot.running++;
    place.node.lastPick = ++picks;
  }

  function retry(): void {
    for (;;) {
      const next = nextInLine();
      if (next === undefined) return;
      line.leave(next.waiter);
      take(next.place);
      next.waiter.grant(next.place);
    }
  }

  function nextInLine(): { waiter: Waiter; place: Place } | undefined {
    if (line.length === 0) return undefined;
    let next: { waiter: Waiter; place: Place } | undefined;
    for (const waiter of line.heads()) {
      if (next !== undefined && next.waiter.order < waiter.order) continue;
      const found = find(waiter.demand);
      if (found.kind === 'free') next = { waiter, place: found.place };
    }
    return next;
  }

  return {
    find,
    take,
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

/**
 * Fewest runs on the Node, then on the adapter; among equals the one that was picked longest ago. One pass and no
 * copies: a fleet may have thousands of places for one name.
 */
function findInTier(tier: readonly Place[], demand: Demand, nodeLimit: number): Found {
  let best: Place | undefined;
  let isUp = false;
  let isSpoken = false;
  for (const place of tier) {
    if (!isAllowed(place, demand)) continue;
    isUp = true;
    if (!place.dialects.includes(demand.dialect)) continue;
    isSpoken = true;
    if (isFree(place, nodeLimit) && (best === undefined || isLessBusy(place, best))) best = place;
  }
  if (best !== undefined) return { kind: 'free', place: best };
  if (isSpoken) return { kind: 'busy' };
  return isUp ? { kind: 'unsupported-dialect' } : { kind: 'no-node' };
}

/** The catalogue may be a moment behind: a Node that has just gone is not asked (E13). */
function isAllowed(place: Place, demand: Demand): boolean {
  return nodeState(place.node) === 'ready' && !demand.excluded.includes(place.node.name);
}

function isFree(place: Place, nodeLimit: number): boolean {
  return (
    isUnder(place.node.total.running, nodeLimit) &&
    isUnder(place.adapterSlot.running, place.adapterLimit) &&
    isUnder(place.targetSlot.running, place.targetLimit)
  );
}

function isUnder(running: number, limit: number): boolean {
  return limit === 0 || running < limit;
}

function isLessBusy(a: Place, b: Place): boolean {
  if (a.node.total.running !== b.node.total.running) return a.node.total.running < b.node.total.running;
  if (a.adapterSlot.running !== b.adapterSlot.running) return a.adapterSlot.running < b.adapterSlot.running;
  return a.node.lastPick < b.node.lastPick;
}
