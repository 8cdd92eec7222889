import type { FaultNote, History } from './history.ts';
import type { RunStory } from './run-story.ts';

/** What a history is made of, in numbers. */
export interface Counts {
  runs: number;
  completed: number;
  failed: number;
  cancelled: number;
  detached: number;
  events: number;
  asks: number;
  wholeAnswers: number;
  edgeKills: number;
  nodeKills: number;
  restarts: number;
  freezes: number;
  linkCuts: number;
  storms: number;
  /** Streams that were taken up again. */
  resumes: number;
  /** Of runs that operators started. */
  watches: number;
  /** Requests with a key that somebody had used before. */
  repeats: number;
  cancels: number;
  leaves: number;
  /** Runs that were dispatched more than once. */
  redispatched: number;
  /** Runs that completed although the Edge, their Node or its link was broken meanwhile. */
  outlived: number;
}

const linkFaults: readonly string[] = ['cut', 'cut-in-frame', 'hold', 'blackhole', 'refuse'];

export function countHistory({ runs, asks, faults }: History): Counts {
  const ended = (kind: string) => runs.filter(({ record }) => record.end?.kind === kind).length;
  const broke = (test: (fault: FaultNote) => boolean) => faults.filter(test).length;
  const seen = (test: (ask: History['asks'][number]) => boolean) => asks.filter(test).length;
  const keys = new Set(
    asks.flatMap(({ idempotencyKey, door }) => (idempotencyKey && door === 'chat' ? [idempotencyKey] : [])),
  );
  return {
    runs: runs.length,
    completed: ended('completed'),
    failed: ended('failed'),
    cancelled: ended('cancelled'),
    detached: runs.filter(({ record }) => record.runClass === 'detached').length,
    events: runs.reduce((sum, { log }: RunStory) => sum + log.events.length, 0),
    asks: asks.length,
    wholeAnswers: seen(({ outcome }) => outcome.kind === 'whole'),
    edgeKills: broke(({ victim, act }) => victim === 'edge' && act.kind === 'kill'),
    nodeKills: broke(({ victim, act }) => victim !== 'edge' && act.kind === 'kill'),
    restarts: broke(({ act }) => act.kind === 'term'),
    freezes: broke(({ act }) => act.kind === 'freeze'),
    linkCuts: broke(({ act }) => linkFaults.includes(act.kind)),
    storms: broke(({ act }) => act.kind === 'storm'),
    resumes: asks.reduce((sum, { connections }) => sum + Math.max(0, connections - 1), 0),
    watches: seen(({ door, outcome }) => door === 'operator' && 'transcript' in outcome),
    repeats: seen(({ idempotencyKey, door }) => idempotencyKey !== undefined && door === 'chat') - keys.size,
    cancels: seen(({ cancel }) => cancel?.answeredAtMs !== undefined),
    leaves: seen(({ outcome }) => outcome.kind === 'left'),
    redispatched: runs.filter(({ record }) => record.attempts > 1).length,
    outlived: runs.filter((run) => hasOutlived(run, faults)).length,
  };
}

function hasOutlived({ record }: RunStory, faults: History['faults']): boolean {
  const { end, endedAtMs = 0, createdAtMs, node } = record;
  return (
    end?.kind === 'completed' &&
    faults.some(
      ({ victim, act, startedAtMs }) =>
        act.kind !== 'storm' &&
        (victim === 'edge' || victim === node) &&
        startedAtMs > createdAtMs &&
        startedAtMs < endedAtMs,
    )
  );
}
