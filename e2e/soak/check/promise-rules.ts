import type { Ask } from '../history/ask.ts';
import type { FaultNote } from '../history/history.ts';
import { type Indexed, nodesOf, type Rule, type Violation } from './violation.ts';

/** An answered cancel may wait for a Node to come back, but not for ever: so long while nothing is broken. */
const cancelMs = 30_000;
/** Between the end of a process and whoever writes it down. */
const toldLateMs = 1_000;

/** What the Edge has promised to anybody, it has kept. */
export const promiseRule: Rule = (indexed) =>
  indexed.history.asks.flatMap((ask) =>
    promises.flatMap(({ rule, look }): Violation[] => {
      const broken = look(ask, indexed);
      const { runId, script } = ask;
      return broken === undefined ? [] : [{ rule, runId, marker: script.marker, ...broken }];
    }),
  );

interface Broken {
  expected: string;
  found: string;
}

interface PromiseRule {
  rule: string;
  look(ask: Ask, indexed: Indexed): Broken | undefined;
}

/** A run that never came to be, or an upstream's own words. */
const honestStatus: readonly number[] = [0, 409, 429, 500, 502, 503, 504];

const promises: readonly PromiseRule[] = [
  {
    rule: 'a run that was acknowledged is there',
    look({ runId, ackedAtMs }, { runOf }) {
      if (ackedAtMs === undefined || runOf(runId)?.record.runClass === 'detached') return undefined;
      return { expected: `detached run ${runId}, acknowledged at ${ackedAtMs}`, found: 'no such run' };
    },
  },
  {
    rule: 'everybody is answered',
    look: ({ outcome, startedAtMs, endedAtMs }) =>
      outcome.kind === 'stuck'
        ? { expected: 'an end', found: `none after ${Math.round(endedAtMs - startedAtMs)} ms` }
        : undefined,
  },
  {
    rule: 'no connection breaks by itself',
    look({ outcome, startedAtMs, endedAtMs }, { faultsOf }) {
      if (outcome.kind !== 'cut') return undefined;
      const faults = faultsOf(['edge'], startedAtMs - toldLateMs, endedAtMs + toldLateMs);
      if (faults.some(({ act }) => act.kind === 'kill' || act.kind === 'term')) return undefined;
      return { expected: 'an answer, or an Edge that ended', found: JSON.stringify(outcome) };
    },
  },
  {
    rule: 'a refusal is honest',
    look({ outcome, door, ackedAtMs }) {
      if (outcome.kind !== 'refused') return undefined;
      const isKnown = ackedAtMs !== undefined && /unknown|not.found/.test(outcome.code);
      const isHonest =
        honestStatus.includes(outcome.status) && outcome.code !== 'internal' && outcome.code !== '';
      const expected = `one of ${honestStatus.join(', ')} with a code, at the door ${door}`;
      return isHonest && !isKnown ? undefined : { expected, found: JSON.stringify(outcome) };
    },
  },
  {
    rule: 'an answered cancel ends its run',
    look({ cancel, runId }, { runOf, faultsOf }) {
      const answeredAtMs = cancel?.answeredAtMs;
      if (answeredAtMs === undefined) return undefined;
      const run = runOf(runId);
      const endedAtMs = run?.record.endedAtMs ?? Number.POSITIVE_INFINITY;
      const victims = ['edge', ...(run === undefined ? [] : nodesOf(run))];
      const brokenMs = lengthOf(faultsOf(victims, answeredAtMs, endedAtMs), answeredAtMs);
      const dueAtMs = answeredAtMs + cancelMs + brokenMs;
      return endedAtMs <= dueAtMs
        ? undefined
        : { expected: `an end by ${dueAtMs}`, found: String(endedAtMs) };
    },
  },
];

/** How long something was broken since then; what was broken twice at a time counts once. */
function lengthOf(faults: readonly FaultNote[], sinceMs: number): number {
  let [lengthMs, reachedMs] = [0, sinceMs];
  for (const { startedAtMs, endedAtMs } of faults.toSorted((a, b) => a.startedAtMs - b.startedAtMs)) {
    lengthMs += Math.max(0, endedAtMs - Math.max(startedAtMs, reachedMs));
    reachedMs = Math.max(reachedMs, endedAtMs);
  }
  return lengthMs;
}
