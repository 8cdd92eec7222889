import type { RunEnd } from '@iop/domain';
import type { FaultKind } from '../history/fault.ts';
import type { FaultNote } from '../history/history.ts';
import type { RunStory } from '../history/run-story.ts';
import { type Indexed, nodesOf, type Rule } from './violation.ts';

/** A Node whose link was broken again and again may wait so long before it dials (backoff), and then some. */
const backMs = 18_000;
/** Clocks, commits, and what the kernel tells late. */
const slackMs = 2_000;
/** A frozen Edge takes up what was asked of it meanwhile. */
const unheardMs = 4_000;

/** Every end that is not `completed` has a cause among what was done to it. */
export const explainedRule: Rule = (indexed) =>
  indexed.history.runs
    .filter((run) => run.record.end !== undefined && !isExplained(indexed, run, run.record.end))
    .map(({ record: { runId, marker, end, runClass, stale } }) => ({
      rule: 'every end has a cause',
      runId,
      marker,
      expected: `completed, or a fault or a caller that explains why this ${runClass} run was not`,
      found: JSON.stringify({ end, stale: stale || undefined }),
    }));

function isExplained(indexed: Indexed, run: RunStory, end: RunEnd): boolean {
  if (end.kind === 'completed') return true;
  return end.kind === 'cancelled' ? isWanted(indexed, run, end.by) : isCaused(indexed, run, end.failure.code);
}

function isWanted(indexed: Indexed, run: RunStory, by: string): boolean {
  const { runClass, createdAtMs } = run.record;
  const asks = indexed.asksOf(run);
  switch (by) {
    case 'operator':
      return asks.some(({ door, cancel }) => door === 'operator' && cancel !== undefined);
    case 'caller':
      if (run.record.marker === undefined) return wasLeftUnknown(indexed, run);
      return asks.some(
        ({ cancel, outcome }) =>
          cancel !== undefined ||
          (runClass === 'attached' && (outcome.kind === 'left' || outcome.kind === 'stuck')),
      );
    case 'shutdown':
      return has(indexed, {
        victims: [...nodesOf(run), ...(runClass === 'attached' ? ['edge'] : [])],
        kinds: ['term'],
        fromMs: createdAtMs - slackMs,
        toMs: endOf(run),
      });
    default:
      return false;
  }
}

/** Nobody was told its id, and it said nothing: then somebody who left at that time must have asked for it. */
function wasLeftUnknown({ history }: Indexed, { record }: RunStory): boolean {
  return history.asks.some(
    ({ runId, script, outcome, startedAtMs }) =>
      runId === undefined &&
      outcome.kind === 'left' &&
      script.model === record.model &&
      Math.abs(startedAtMs - record.createdAtMs) < slackMs + unheardMs,
  );
}

function isCaused(indexed: Indexed, run: RunStory, code: string): boolean {
  const { runClass, createdAtMs } = run.record;
  const isAttached = runClass === 'attached';
  const nodes = nodesOf(run);
  const during = { fromMs: createdAtMs - slackMs, toMs: endOf(run) };
  switch (code) {
    case 'edge.restarted':
      return isAttached && has(indexed, { ...during, victims: ['edge'], kinds: ['kill', 'term'] });
    case 'edge.stopped':
      return isAttached && has(indexed, { ...during, victims: ['edge'], kinds: ['term'] });
    case 'node.lost':
      return isLost(indexed, run, nodes);
    case 'node.orphaned':
    case 'node.stop-unconfirmed':
      return has(indexed, {
        victims: [...nodes, 'edge'],
        fromMs: endOf(run) - indexed.history.limits.stopAfterMs - backMs,
        toMs: endOf(run),
      });
    case 'node.draining':
      return has(indexed, { ...during, victims: nodes, kinds: ['term'] });
    case 'queue.timeout':
      return (
        isAttached && has(indexed, { ...during, victims: indexed.history.faults.map(({ victim }) => victim) })
      );
    default:
      return code.startsWith('upstream.') && isUpstreams(indexed, run, nodes);
  }
}

/** Its Node was ended; or it went away for so long, and something had broken its link when it did. */
function isLost(indexed: Indexed, run: RunStory, nodes: readonly string[]): boolean {
  const { lostAfterMs, detachedLostAfterMs } = indexed.history.limits;
  const { runClass, createdAtMs } = run.record;
  const lostMs = runClass === 'attached' ? lostAfterMs : detachedLostAfterMs;
  const endMs = endOf(run);
  const ended = {
    victims: nodes,
    kinds: ['kill', 'term'] as const,
    fromMs: createdAtMs - slackMs,
    toMs: endMs,
  };
  const wentAwayMs = endMs - lostMs;
  const broken = {
    victims: [...nodes, 'edge'],
    fromMs: wentAwayMs - backMs - slackMs,
    toMs: wentAwayMs + slackMs,
  };
  return has(indexed, ended) || has(indexed, broken);
}

/** Its upstream did not answer as a good one does; or was not listened to for a while. */
function isUpstreams(indexed: Indexed, run: RunStory, nodes: readonly string[]): boolean {
  const isBad = indexed.effectsOf(run.record.marker).some(({ plan }) => plan !== 'done');
  const frozen = { victims: nodes, kinds: ['freeze', 'storm'] as const };
  const fromMs = run.record.createdAtMs - slackMs;
  return isBad || run.record.marker === undefined || has(indexed, { ...frozen, fromMs, toMs: endOf(run) });
}

interface Wanted {
  victims: readonly string[];
  kinds?: readonly FaultKind[];
  fromMs: number;
  toMs: number;
}

function has(indexed: Indexed, { victims, kinds, fromMs, toMs }: Wanted): boolean {
  const isOne = ({ act }: FaultNote) => kinds === undefined || kinds.includes(act.kind);
  return indexed.faultsOf(victims, fromMs, toMs).some(isOne);
}

function endOf({ record }: RunStory): number {
  return (record.endedAtMs ?? Number.POSITIVE_INFINITY) + slackMs;
}
