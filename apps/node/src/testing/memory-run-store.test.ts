import { runStoreContract } from '../ports/run-store.contract.ts';
import { createMemoryRunStore } from './memory-run-store.ts';

runStoreContract('the memory store', async () => ({
  store: createMemoryRunStore(),
  teardown: async () => {},
}));
