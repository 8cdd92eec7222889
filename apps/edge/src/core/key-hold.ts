import type { Run } from './run.ts';

/** E16: a run takes one of its key's places at its first dispatch and keeps it until it ends. */
export function holdKey(run: Run): void {
  if (run.key === undefined || run.holdsKey) return;
  run.holdsKey = true;
  run.key.running++;
}

/**
 * Once, whatever ends the run. Before its place is given back where both go together, so that of those who wait the
 * oldest gets it, also when it waits for the same key (E4). False: it held none.
 */
export function giveBackKey(run: Run): boolean {
  if (run.key === undefined || !run.holdsKey) return false;
  run.holdsKey = false;
  run.key.running--;
  return true;
}
