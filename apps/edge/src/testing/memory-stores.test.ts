import { identityStoreContract } from '../ports/identity-store.contract.ts';
import { keyStoreContract } from '../ports/key-store.contract.ts';
import { runRecordsContract } from '../ports/run-records.contract.ts';
import { createMemoryIdentityStore, createMemoryKeyStore, createMemoryRunRecords } from './memory-stores.ts';

const nothing = { async [Symbol.asyncDispose]() {} };

runRecordsContract('memory', async () => ({ records: createMemoryRunRecords(), ...nothing }));
identityStoreContract('memory', async () => ({ identities: createMemoryIdentityStore(), ...nothing }));
keyStoreContract('memory', async () => ({ keys: createMemoryKeyStore(), ...nothing }));
