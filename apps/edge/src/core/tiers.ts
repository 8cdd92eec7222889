import type { Place } from './places.ts';
import type { AliasRoute, AliasSettings } from './settings.ts';

/** Places that are asked together: an earlier tier that can take a run, now or soon, is preferred. */
export interface Tier {
  /** For people: `alias fast: 2nd choice, `; empty where there is no choice. */
  readonly words: string;
  /** One, or several that share by weight. */
  readonly routes: readonly Route[];
  readonly shares: Shares;
}

export interface Route {
  readonly turn: Turn;
  readonly places: readonly Place[];
}

/** Whose turn it is among weighted routes: everybody pays 1 / weight for a run, the one who paid least is next. */
export interface Shares {
  /** What the last one had paid: who was away does not catch up. */
  paid: number;
  readonly turns: Map<string, Turn>;
}

export interface Turn {
  readonly weight: number;
  paid: number;
}

export function newShares(): Shares {
  return { paid: 0, turns: new Map() };
}

/** What it has paid when it counts, which is never less than where the others are. */
export function duesOf(shares: Shares, turn: Turn): number {
  return Math.max(turn.paid, shares.paid);
}

export function payTurn(shares: Shares, turn: Turn): void {
  shares.paid = duesOf(shares, turn);
  turn.paid = shares.paid + 1 / turn.weight;
}

const noShares = newShares();
const noTurn: Turn = { weight: 1, paid: 0 };

export function plainTier(places: readonly Place[], words = ''): Tier {
  return { words, routes: [{ turn: noTurn, places }], shares: noShares };
}

export interface TierDeps {
  placesOf(name: string): readonly Place[];
  /** Kept over rebuilds, by alias and tier. */
  sharesOf(key: string): Shares;
}

/** The tiers of an alias; those of one tier without weights are one pool. */
export function tiersOf({ name, tiers }: AliasSettings, deps: TierDeps): Tier[] {
  return tiers.map((routes, index) => {
    const words = `alias ${name}: ${ordinal(index + 1)} choice, `;
    if (!isWeighted(routes)) {
      const places = new Set(routes.flatMap((route) => deps.placesOf(route.name)));
      return plainTier([...places], words);
    }
    const shares = deps.sharesOf(`${name}\0${index}`);
    return { words, shares, routes: routes.map((route) => weightedRoute(route, shares, deps)) };
  });
}

export function isWeighted(routes: readonly AliasRoute[]): boolean {
  return routes.length > 1 && routes.some((route) => route.weight !== undefined);
}

function weightedRoute({ name, weight = 1 }: AliasRoute, shares: Shares, deps: TierDeps): Route {
  let turn = shares.turns.get(name);
  if (turn?.weight !== weight) {
    turn = { weight, paid: turn?.paid ?? 0 };
    shares.turns.set(name, turn);
  }
  return { turn, places: deps.placesOf(name) };
}

export function ordinal(number: number): string {
  const ending =
    number % 100 > 10 && number % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${number}${ending}`;
}
