import { type Clock, formatRunId } from '@iop/domain';
import type { StoreLink } from './store-link.ts';

export interface PruningOptions {
  link: StoreLink;
  clock: Clock;
  retentionMs: number;
}

/** Small bites, so that records which wait to be written are held up for milliseconds only. */
const biteRuns = 2000;
const dayMs = 86_400_000;
/** Of runs whose records are gone the sums of their days are kept so long. */
const usageMs = 400 * dayMs;
const everyMs = 3_600_000;
const soonMs = 5000;

/** Deletes old records from time to time; returns how to stop it. */
export function createPruning({ link, clock, retentionMs }: PruningOptions): () => void {
  let stopped = false;
  let cancel = clock.after(soonMs, () => void bite());

  async function bite(): Promise<void> {
    // ids sort by creation: every run before this moment has a smaller one
    const before = formatRunId(Math.max(0, clock.wall() - retentionMs), new Uint8Array(10));
    const daysBefore = Math.floor((clock.wall() - usageMs) / dayMs);
    const gone = await link.ask({ kind: 'prune-runs', before, limit: biteRuns, daysBefore }).catch(() => 0);
    if (stopped) return;
    cancel = clock.after(gone === biteRuns ? 0 : everyMs, () => void bite());
  }

  return () => {
    stopped = true;
    cancel();
  };
}
