import { endStoreContract } from '../ports/end-store.contract.ts';
import type { KeptEnd } from '../ports/end-store.ts';
import { createMemoryEndStore } from './memory-end-store.ts';

endStoreContract('the memory store', async () => {
  const disk = new Map<string, KeptEnd>();
  const store = createMemoryEndStore(disk);
  return {
    store,
    crash: () => createMemoryEndStore(disk),
    refuse: (isRefusing) => Object.assign(store, { isRefusing }),
    teardown: async () => {},
  };
});
