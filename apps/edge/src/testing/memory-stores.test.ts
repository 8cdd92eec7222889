import { identityStoreContract } from '../ports/identity-store.contract.ts';
import { keyStoreContract } from '../ports/key-store.contract.ts';
import { runLogContract } from '../ports/run-log.contract.ts';
import { runOrdersContract } from '../ports/run-orders.contract.ts';
import { runRecordsContract } from '../ports/run-records.contract.ts';
import { createMemoryRunLog, createMemoryRunOrders } from './memory-run-log.ts';
import { createMemoryIdentityStore, createMemoryKeyStore, createMemoryRunRecords } from './memory-stores.ts';

const nothing = { async [Symbol.asyncDispose]() {} };

function setUpRuns() {
  const [records, log] = [createMemoryRunRecords(), createMemoryRunLog()];
  return { records, log, orders: createMemoryRunOrders(records, log), ...nothing };
}

runRecordsContract('memory', async () => ({ records: createMemoryRunRecords(), ...nothing }));
runLogContract('memory', async () => setUpRuns());
runOrdersContract('memory', async () => setUpRuns());
identityStoreContract('memory', async () => ({ identities: createMemoryIdentityStore(), ...nothing }));
keyStoreContract('memory', async () => ({ keys: createMemoryKeyStore(), ...nothing }));
