import type { History } from './history/history.ts';

/** Milliseconds, of what took time. */
export interface Spread {
  count: number;
  p50: number;
  p99: number;
  longest: number;
}

/** From a caller that hangs up to its upstream that sees the connection closed; where nothing was broken just then. */
export function closingTimes({ asks, effects, faults }: History): Spread {
  const byMarker = new Map(effects.map((effect) => [effect.marker, effect]));
  const calm = (atMs: number) =>
    !faults.some(({ startedAtMs, endedAtMs }) => startedAtMs < atMs + 1_000 && endedAtMs > atMs - 3_000);
  return spreadOf(
    asks.flatMap(({ outcome, script }) => {
      const closedAtMs = byMarker.get(script.marker)?.closedAtMs;
      if (outcome.kind !== 'left' || closedAtMs === undefined || closedAtMs < outcome.atMs) return [];
      return calm(outcome.atMs) ? [closedAtMs - outcome.atMs] : [];
    }),
  );
}

/** From creation to end of runs that completed. */
export function runTimes({ runs }: History): Spread {
  return spreadOf(
    runs.flatMap(({ record: { end, createdAtMs, endedAtMs } }) =>
      end?.kind === 'completed' && endedAtMs !== undefined ? [endedAtMs - createdAtMs] : [],
    ),
  );
}

function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), longest: at(1) };
}
