import type { Clock } from '@iop/domain';
import type { IdentityRole, IdentityStore, StoredIdentity } from '../../ports/identity-store.ts';
import type { KeyStore, StoredKey } from '../../ports/key-store.ts';
import type { RunRecords } from '../../ports/run-records.ts';
import { createDurableWriter, type DurableWriter } from './durable-writer.ts';
import type { ConfigRevision, StoreAsk, StoreContent } from './messages.ts';
import { createPruning } from './pruning.ts';
import { createRunWriter } from './run-writer.ts';
import { createStoreLink, type StoreLink } from './store-link.ts';
import { findThreadSource, type ThreadSource } from './thread-source.ts';

/** The Edge's state on disk. The file is opened by one thread of its own, never by this one. */
export interface SqliteStore {
  readonly records: RunRecords;
  readonly identities: IdentityStore;
  readonly keys: KeyStore;
  /** The number of this content: the newest one's if it is the same, else the next. Resolves when durable. */
  revisionOf(hash: string): Promise<number>;
  /** Runs that an earlier process left without an end; they are `edge.restarted` now. */
  readonly interrupted: number;
  readonly stats: { droppedRecords(): number; lagMs(): number };
  /** Writes what waits and closes the file. */
  close(): Promise<void>;
}

export interface StoreOptions {
  file: string;
  clock: Clock;
  /** Called at every change: why the store does not work, or undefined when it does. */
  onProblem?(problem: string | undefined): void;
  /** Records of ended runs are kept so long. */
  retentionMs?: number;
  flushAfterMs?: number;
  /** Records that may wait in memory while the disk is away. */
  capacity?: number;
  source?: ThreadSource;
}

const weekMs = 7 * 24 * 3_600_000;

/** @throws IopError `config.store-newer`, `config.store-corrupt`, `store.unavailable` */
export async function openSqliteStore(options: StoreOptions): Promise<SqliteStore> {
  const { file, clock } = options;
  const source = options.source ?? findThreadSource();
  const onProblem = onlyChanges(options.onProblem ?? (() => {}));
  const link = createStoreLink({ file, source, clock, onProblem });
  const content = await openOrClose(link, { kind: 'open', file, fresh: true, nowMs: clock.wall() });
  const { flushAfterMs = 40, capacity = 50_000 } = options;
  const records = createRunWriter({ link, clock, flushAfterMs, capacity, onProblem });
  const durable = createDurableWriter(link, onProblem);
  const stopPruning = createPruning({ link, clock, retentionMs: options.retentionMs ?? weekMs });
  return {
    records,
    identities: createIdentities(content, durable),
    keys: createKeys(content, durable),
    revisionOf: createRevisions(content, durable, clock),
    interrupted: content.interrupted,
    stats: { droppedRecords: () => records.dropped, lagMs: () => records.lagMs() },
    async close() {
      stopPruning();
      try {
        await records.flush();
      } finally {
        records.stop();
        await link.close();
      }
    },
  };
}

async function openOrClose(link: StoreLink, ask: StoreAsk & { kind: 'open' }): Promise<StoreContent> {
  try {
    return await link.ask(ask);
  } catch (reason) {
    await link.close().catch(() => {});
    throw reason;
  }
}

function onlyChanges(tell: (problem: string | undefined) => void): typeof tell {
  let last: string | undefined;
  return (problem) => {
    if (problem === last) return;
    last = problem;
    tell(problem);
  };
}

function createIdentities({ identities }: StoreContent, durable: DurableWriter): IdentityStore {
  const keyOf = (role: IdentityRole, name: string) => `${role}/${name}`;
  const rows = new Map(identities.map((row) => [keyOf(row.role, row.name), row]));
  return {
    find: (role, name) => rows.get(keyOf(role, name)),
    save(identity: StoredIdentity) {
      const key = keyOf(identity.role, identity.name);
      const epoch = Math.max(identity.epoch, rows.get(key)?.epoch ?? 0);
      rows.set(key, { ...identity, epoch });
      return durable.write({ kind: 'identity', identity });
    },
    names: (role) => [...rows.values()].filter((row) => row.role === role).map((row) => row.name),
  };
}

function createKeys({ keys }: StoreContent, durable: DurableWriter): KeyStore {
  const rows = new Map(keys.map((key) => [key.id, key]));
  return {
    find: (id) => rows.get(id),
    list: () => [...rows.values()],
    async save(key: StoredKey) {
      await durable.write({ kind: 'key', key });
      rows.set(key.id, key);
    },
  };
}

function createRevisions(
  { revision }: StoreContent,
  durable: DurableWriter,
  clock: Clock,
): (hash: string) => Promise<number> {
  let newest: ConfigRevision = revision ?? { revision: 0, hash: '', loadedAtMs: 0 };
  return async (hash) => {
    if (hash === newest.hash) return newest.revision;
    const next = { revision: newest.revision + 1, hash, loadedAtMs: clock.wall() };
    await durable.write({ kind: 'revision', revision: next });
    newest = next;
    return next.revision;
  };
}
