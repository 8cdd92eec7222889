import type { RunEnd } from '@iop/domain';

/** What happened since the Edge started; for metrics. Plain numbers, because the hot path adds to them. */
export interface Counters {
  started: number;
  events: number;
  redispatched: number;
  /** Signals of attempts that were already over. */
  stale: number;
  linksUp: number;
  linksDown: number;
  /** Places that were closed to runs for a while. */
  breakersOpened: number;
  targetsAppeared: number;
  targetsGone: number;
  /** Starts that were refused, by outcome. */
  readonly refused: Map<string, number>;
  /** Ends by kind and reason: `completed stop`, `failed unavailable`, `cancelled caller`. */
  readonly ends: Map<string, { kind: RunEnd['kind']; reason: string; count: number }>;
  ended(end: RunEnd): void;
}

export function createCounters(): Counters {
  const ends: Counters['ends'] = new Map();
  return {
    started: 0,
    events: 0,
    redispatched: 0,
    stale: 0,
    linksUp: 0,
    linksDown: 0,
    breakersOpened: 0,
    targetsAppeared: 0,
    targetsGone: 0,
    refused: new Map(),
    ends,
    ended(end) {
      const reason = reasonOf(end);
      const key = `${end.kind} ${reason}`;
      const entry = ends.get(key);
      if (entry === undefined) ends.set(key, { kind: end.kind, reason, count: 1 });
      else entry.count++;
    },
  };
}

/** Closed sets only: a code may be anything that a Node says and would flood the metrics. */
function reasonOf(end: RunEnd): string {
  if (end.kind === 'completed') return end.finish;
  return end.kind === 'failed' ? end.failure.kind : end.by;
}
