import type { RunStory } from '../history/run-story.ts';
import type { Rule, Violation } from './violation.ts';

/** Dispatches of one run that the Edge may make. */
const mostAttempts = 3;
/** Between the words of the Node and the moment at which the upstream sees its connection closed. */
const closedWithinMs = 2_500;
/** Records are in whole milliseconds. */
const roundingMs = 2;

/** One key never had two runs that both had effect: a further one begins only after one that leaves it open. */
export const keyRule: Rule = ({ history, runsOf }) => {
  const keyed = new Set(
    history.asks.flatMap(({ idempotencyKey, script }) => (idempotencyKey ? [script.marker] : [])),
  );
  return [...keyed].flatMap((marker): Violation[] => {
    const runs = runsOf(marker).toSorted((one, other) => one.record.createdAtMs - other.record.createdAtMs);
    return runs.slice(1).flatMap((run, index): Violation[] => {
      const before = runs[index];
      if (before === undefined || mayBeFollowed(before, run)) return [];
      const { runId, end, endedAtMs } = before.record;
      return [
        {
          rule: 'one key, one run',
          runId: run.record.runId,
          marker,
          expected: `no further run after ${runId}, which ended ${JSON.stringify(end)} at ${endedAtMs}`,
          found: `a run created at ${run.record.createdAtMs}, begun at ${run.record.startedAtMs}`,
        },
      ];
    });
  });
};

function mayBeFollowed({ record: { end, endedAtMs } }: RunStory, next: RunStory): boolean {
  const leavesOpen =
    (end?.kind === 'cancelled' && end.by === 'caller') || (end?.kind === 'failed' && end.failure.retryable);
  // it may have been asked for before the end, and waited for the disk until then
  const { startedAtMs, endedAtMs: overMs = 0 } = next.record;
  return leavesOpen && (startedAtMs ?? overMs) + roundingMs >= (endedAtMs ?? Number.POSITIVE_INFINITY);
}

/** Work begins no more often than it was dispatched; a program once for each run. */
export const effectRule: Rule = (indexed) =>
  [...Map.groupBy(indexed.history.effects, ({ marker }) => marker)].flatMap(
    ([marker, effects]): Violation[] => {
      const runs = indexed.runsOf(marker);
      const known = runs.reduce((sum, { record }) => sum + record.attempts, 0);
      const isProgram = effects[0]?.model === 'say';
      // a kept-alive connection that closes before it says anything may have been stale: asked once more
      const dropped = effects.filter(({ plan }) => plan === 'drop').length;
      const dispatched = known === 0 ? mostAttempts : known;
      const allowed = isProgram && runs.length > 0 ? runs.length : dispatched + dropped;
      if (effects.length <= allowed) return [];
      const found = `${effects.length} times: ${JSON.stringify(effects.slice(0, 5))}`;
      return [
        {
          rule: 'work begins no more often than it was dispatched',
          runId: runs.at(-1)?.record.runId,
          marker,
          expected: `at most ${allowed} times`,
          found,
        },
      ];
    },
  );

/** Nothing is called cancelled before the work has stopped. */
export const cancelledRule: Rule = (indexed) =>
  indexed.history.runs.flatMap(({ record: { runId, marker, end, endedAtMs } }): Violation[] => {
    if (end?.kind !== 'cancelled' || endedAtMs === undefined || marker === undefined) return [];
    if (indexed.runsOf(marker).length > 1) return [];
    const open = indexed
      .effectsOf(marker)
      .find(
        ({ model, closedAtMs }) => model === 'm' && (closedAtMs ?? Infinity) > endedAtMs + closedWithinMs,
      );
    if (open === undefined) return [];
    const expected = `its upstream closed by ${endedAtMs + closedWithinMs}`;
    return [{ rule: 'cancelled means stopped', runId, marker, expected, found: JSON.stringify(open) }];
  });
