import { isRunEndState } from '@iop/domain';
import type { IdentityStore, StoredIdentity } from '../ports/identity-store.ts';
import type { KeyStore, StoredKey } from '../ports/key-store.ts';
import type { RunRecord, RunRecords } from '../ports/run-records.ts';
import type { Secrets } from '../ports/secrets.ts';

/** Run records in memory. `saved` is every state of every run, in order. */
export function createMemoryRunRecords(): RunRecords & { readonly saved: RunRecord[] } {
  const saved: RunRecord[] = [];
  const rows = new Map<string, RunRecord>();
  return {
    saved,
    save(record) {
      saved.push(record);
      rows.set(record.runId, record);
    },
    find: async (runId) => rows.get(runId),
    async list({ limit, states, before }) {
      return [...rows.values()]
        .filter((row) => states.length === 0 || states.includes(row.state))
        .filter((row) => before === undefined || row.runId < before)
        .sort((a, b) => (a.runId < b.runId ? 1 : -1))
        .slice(0, limit);
    },
    flush: async () => {},
  };
}

/** The records whose run has not ended. */
export function openRecords(records: { readonly saved: RunRecord[] }): RunRecord[] {
  const last = new Map(records.saved.map((record) => [record.runId, record]));
  return [...last.values()].filter((record) => !isRunEndState(record.state));
}

export function createMemoryIdentityStore(): IdentityStore {
  const rows = new Map<string, StoredIdentity>();
  const keyOf = ({ role, name }: { role: string; name: string }) => `${role}/${name}`;
  return {
    find: (role, name) => rows.get(keyOf({ role, name })),
    async save(identity) {
      const epoch = Math.max(identity.epoch, rows.get(keyOf(identity))?.epoch ?? 0);
      rows.set(keyOf(identity), { ...identity, epoch });
    },
    names: (role) => [...rows.values()].filter((row) => row.role === role).map((row) => row.name),
  };
}

export function createMemoryKeyStore(): KeyStore {
  const rows = new Map<string, StoredKey>();
  return {
    find: (id) => rows.get(id),
    list: () => [...rows.values()].sort((a, b) => a.createdAtMs - b.createdAtMs),
    save: async (key) => {
      rows.set(key.id, key);
    },
  };
}

/** Counts instead of randomness; the hash is no hash. */
export function createPlainSecrets(): Secrets {
  let count = 0;
  return {
    hash: (text) => text.padEnd(64, '0'),
    newSecret: () => `secret${++count}`.padEnd(43, '_'),
    newKeyId: () => `key${++count}`.replaceAll(/[0189]/g, 'x').padEnd(8, 'a'),
  };
}
