import { isLessBusy } from './less-busy.ts';
import { nodeState } from './node-entry.ts';
import { blockedUntilMs, placeStanding } from './place-health.ts';
import type { Place } from './places.ts';
import { duesOf, type Route, type Shares, type Tier, type Turn } from './tiers.ts';
import type { Demand } from './waiting-line.ts';

/** A place that is free, and why it. Good until anything else happens. */
export interface Pick {
  readonly place: Place;
  /** For people: `only candidate`, `alias fast: 2nd choice, least busy of 3; 1st: no Node up`. */
  readonly route: string;
  /** Whose turn it was. */
  readonly shares: Shares | undefined;
  readonly turn: Turn | undefined;
}

/** What a tier can do for a demand. */
export type TierOutcome =
  | { kind: 'free'; pick: Pick }
  | { kind: 'busy' }
  | { kind: 'blocked'; untilMs: number }
  | { kind: 'unsupported-dialect' }
  | { kind: 'no-node' };

export interface ChooseLimits {
  /** Runs at once on one Node; 0: no limit. */
  nodeLimit: number;
  /** Monotonic; asked only where something is wrong. */
  now(): number;
}

/** What was seen on the way through the places of a route. One of these is used over and over. */
interface Scan {
  best: Place | undefined;
  /** Places that speak the dialect, free or not. */
  spoken: number;
  free: number;
  isUp: boolean;
  isBusy: boolean;
  blocked: number;
  /** The soonest; 0: none is blocked. */
  blockedUntilMs: number;
}

const noScan = {
  best: undefined,
  spoken: 0,
  free: 0,
  isUp: false,
  isBusy: false,
  blocked: 0,
  blockedUntilMs: 0,
};

export function chooseInTier(tier: Tier, demand: Demand, limits: ChooseLimits): TierOutcome {
  const scan: Scan = { ...noScan };
  let best: Place | undefined;
  let turn: Turn | undefined;
  for (const route of tier.routes) {
    scan.best = undefined;
    scanRoute(scan, route, demand, limits);
    if (scan.best === undefined) continue;
    if (turn !== undefined && duesOf(tier.shares, route.turn) >= duesOf(tier.shares, turn)) continue;
    best = scan.best;
    turn = route.turn;
  }
  if (best !== undefined) return { kind: 'free', pick: pickOf(tier, scan, { place: best, turn, demand }) };
  if (scan.isBusy) return { kind: 'busy' };
  if (scan.blockedUntilMs > 0) return { kind: 'blocked', untilMs: scan.blockedUntilMs };
  return { kind: scan.isUp ? 'unsupported-dialect' : 'no-node' };
}

/** One pass and no copies: a fleet may have thousands of places for one name. */
function scanRoute(scan: Scan, { places }: Route, demand: Demand, { nodeLimit, now }: ChooseLimits): void {
  for (const place of places) {
    if (!isAllowed(place, demand)) continue;
    scan.isUp = true;
    if (!place.dialects.includes(demand.dialect)) continue;
    scan.spoken++;
    if (isTroubled(place) && !isTrusted(scan, place, now())) continue;
    if (!isFree(place, nodeLimit)) {
      scan.isBusy = true;
      continue;
    }
    scan.free++;
    if (scan.best === undefined || isLessBusy(place, scan.best)) scan.best = place;
  }
}

function isTrusted(scan: Scan, place: Place, nowMs: number): boolean {
  const standing = placeStanding(place, nowMs);
  if (standing === 'blocked') noteBlocked(scan, blockedUntilMs(place));
  if (standing === 'on-trial') scan.isBusy = true;
  return standing === 'fine';
}

function noteBlocked(scan: Scan, untilMs: number): void {
  scan.blocked++;
  scan.blockedUntilMs = scan.blockedUntilMs === 0 ? untilMs : Math.min(scan.blockedUntilMs, untilMs);
}

function isTroubled({ adapterSlot, targetSlot }: Place): boolean {
  return adapterSlot.trouble !== undefined || targetSlot.trouble !== undefined;
}

/** The catalogue may be a moment behind: a Node that has just gone is not asked (E13). */
function isAllowed(place: Place, { excluded }: Demand): boolean {
  return nodeState(place.node) === 'ready' && (excluded.length === 0 || !excluded.includes(place.id));
}

export function isFree(place: Place, nodeLimit: number): boolean {
  return (
    isUnder(place.node.total.running, nodeLimit) &&
    isUnder(place.adapterSlot.running, place.adapterLimit) &&
    isUnder(place.targetSlot.running, place.targetLimit)
  );
}

function isUnder(running: number, limit: number): boolean {
  return limit === 0 || running < limit;
}

function pickOf(
  tier: Tier,
  scan: Scan,
  { place, turn, demand }: { place: Place; turn: Turn | undefined; demand: Demand },
): Pick {
  const isShared = tier.routes.length > 1;
  const why = isShared ? `by weight ${turn?.weight}` : whyOf(scan, demand);
  const kept = scan.blocked === 0 ? '' : `, ${scan.blocked} kept away by breakers`;
  const route = tier.words + why + kept;
  return { place, route, shares: isShared ? tier.shares : undefined, turn };
}

const leastBusyOf: string[] = [];

function whyOf({ spoken, blocked, free }: Scan, { select }: Demand): string {
  if (select.kind === 'target' && select.node !== undefined) return 'Node asked for';
  const candidates = spoken - blocked;
  if (candidates === 1) return 'only candidate';
  if (free === 1) return `only one free of ${candidates}`;
  leastBusyOf[free] ??= `least busy of ${free}`;
  return leastBusyOf[free];
}
