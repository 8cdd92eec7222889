import { isRunEndState, type RunEnd } from '@iop/domain';
import type { IdentityStore, StoredIdentity } from '../ports/identity-store.ts';
import type { KeyStore, StoredKey } from '../ports/key-store.ts';
import type { RunRecord, RunRecords, UsageQuery, UsageSum } from '../ports/run-records.ts';
import type { Secrets } from '../ports/secrets.ts';

/** Run records in memory. `saved` is every state of every run, in order. */
export function createMemoryRunRecords(): RunRecords & { readonly saved: RunRecord[] } {
  const saved: RunRecord[] = [];
  const rows = new Map<string, RunRecord>();
  return {
    saved,
    save(record) {
      saved.push(record);
      // what a Node said after the end stays
      const stale = record.stale === '' ? (rows.get(record.runId)?.stale ?? '') : record.stale;
      rows.set(record.runId, stale === record.stale ? record : { ...record, stale });
    },
    async commit(record) {
      this.save(record);
      await new Promise((resolve) => setImmediate(resolve));
    },
    noteStale(runId, stale) {
      const row = rows.get(runId);
      if (row !== undefined) rows.set(runId, { ...row, stale });
    },
    find: async (runId) => rows.get(runId),
    async list({ limit, states, before }) {
      return [...rows.values()]
        .filter((row) => states.length === 0 || states.includes(row.state))
        .filter((row) => before === undefined || row.runId < before)
        .sort((a, b) => (a.runId < b.runId ? 1 : -1))
        .slice(0, limit);
    },
    usage: async (query) => sumUsage([...rows.values()], query),
    flush: async () => {},
  };
}

function sumUsage(rows: readonly RunRecord[], { group, sinceMs }: UsageQuery): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const row of rows) {
    if (row.end === undefined || row.createdAtMs < sinceMs) continue;
    const model = row.asked === '' ? `${row.adapter}/${row.target}` : row.asked;
    const name = { key: row.keyId, model, node: row.node }[group];
    sums.set(name, addRun(sums.get(name) ?? { ...noUsage, group: name }, row.end));
  }
  const tokens = (sum: UsageSum) => sum.promptTokens + sum.completionTokens;
  return [...sums.values()].sort((a, b) => tokens(b) - tokens(a) || b.runs - a.runs);
}

function addRun(sum: UsageSum, { kind, usage }: RunEnd): UsageSum {
  return {
    group: sum.group,
    runs: sum.runs + 1,
    failed: sum.failed + Number(kind === 'failed'),
    cancelled: sum.cancelled + Number(kind === 'cancelled'),
    promptTokens: sum.promptTokens + (usage?.promptTokens ?? 0),
    completionTokens: sum.completionTokens + (usage?.completionTokens ?? 0),
    estimated: sum.estimated + Number(usage?.estimated ?? false),
    unmeasured: sum.unmeasured + Number(usage === undefined),
  };
}

const noUsage = {
  runs: 0,
  failed: 0,
  cancelled: 0,
  promptTokens: 0,
  completionTokens: 0,
  estimated: 0,
  unmeasured: 0,
};

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
