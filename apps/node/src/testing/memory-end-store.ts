import { IopError } from '@iop/domain';
import type { EndStore, KeptEnd } from '../ports/end-store.ts';

/** The fake of the store of ends. Its disk is a map, which outlives it; it takes nothing while `isRefusing`. */
export interface MemoryEndStore extends EndStore {
  isRefusing: boolean;
  /** How many ends each `keep` that worked was given. */
  readonly groups: number[];
}

export function createMemoryEndStore(disk = new Map<string, KeptEnd>()): MemoryEndStore {
  const keyOf = ({ runId, attempt }: { runId: string; attempt: number }) => `${runId}/${attempt}`;
  const store: MemoryEndStore = {
    isRefusing: false,
    groups: [],
    keep(ends) {
      if (store.isRefusing) {
        throw new IopError({ kind: 'unavailable', code: 'store.refused', message: 'the disk is full' });
      }
      for (const end of ends) disk.set(keyOf(end), end);
      store.groups.push(ends.length);
    },
    forget: (ref) => void disk.delete(keyOf(ref)),
    kept: () => [...disk.values()],
  };
  return store;
}
