import type { Clock } from '@iop/domain';
import type { IdentityRole, IdentityStore, StoredIdentity } from '../../ports/identity-store.ts';
import type { KeyStore, StoredKey } from '../../ports/key-store.ts';
import type { RunLog } from '../../ports/run-log.ts';
import type { RestoredRun, RunOrders } from '../../ports/run-orders.ts';
import type { RunRecords } from '../../ports/run-records.ts';
import { encodeEvent } from './encode-event.ts';
import { createGroupWriter, type GroupWriter } from './group-writer.ts';
import { createRunLog } from './log-reader.ts';
import type { ConfigRevision, StoreContent } from './messages.ts';
import { createPruning, type Pruning } from './pruning.ts';
import { restartedEnd } from './run-table.ts';
import { createRunOrders, createRunRecords } from './run-views.ts';
import { createStoreLink, type StoreLink } from './store-link.ts';
import { findThreadSource, type ThreadSource } from './thread-source.ts';

/** The Edge's state on disk. The file is opened by one thread of its own, never by this one. */
export interface SqliteStore {
  readonly records: RunRecords;
  readonly log: RunLog;
  readonly orders: RunOrders;
  readonly identities: IdentityStore;
  readonly keys: KeyStore;
  /** The number of this content: the newest one's if it is the same, else the next. Resolves when durable. */
  revisionOf(hash: string): Promise<number>;
  /** Attached runs that an earlier process left without an end; they are `edge.restarted` now. */
  readonly interrupted: number;
  /** Detached ones: they go on. */
  readonly restored: readonly RestoredRun[];
  readonly stats: StoreStats;
  /** From now on. */
  changeRetention(retention: StoreRetention): void;
  /** Writes what waits and closes the file. */
  close(): Promise<void>;
}

export interface StoreStats {
  /** Records that were given up while the store could not take them. */
  droppedRecords(): number;
  /** Events of which only a gap is left, for the same reason. */
  lostEvents(): number;
  /** Age of the oldest that is not written yet; 0: nothing waits. */
  lagMs(): number;
  /** Content of attached runs that are not stored, as of the last write. */
  contentBytes(): number;
}

export interface StoreRetention {
  /** Records, and what belongs to them, are kept so long; 7 days. */
  retentionMs?: number;
  /** Content of attached runs that are not stored; the oldest goes first; 2 GiB. */
  contentBytes?: number;
  /** Requests, content and records of stored and detached runs are kept so long; 30 days. */
  storedRetentionMs?: number;
}

export interface StoreOptions extends StoreRetention {
  file: string;
  clock: Clock;
  /** Called at every change: why the store does not work, or undefined when it does. */
  onProblem?(problem: string | undefined): void;
  flushAfterMs?: number;
  contentAfterMs?: number;
  /** Runs that may wait in memory while the disk is away. */
  capacity?: number;
  /** Bytes of content that may, unless somebody waits for them. */
  capacityBytes?: number;
  /** Of the database's log, also while another program holds it; beyond, nothing is written. 256 MiB. */
  walLimitBytes?: number;
  source?: ThreadSource;
}

const dayMs = 24 * 3_600_000;

/** @throws IopError `config.store-newer`, `config.store-corrupt`, `store.unavailable` */
export async function openSqliteStore(options: StoreOptions): Promise<SqliteStore> {
  const { file, clock } = options;
  const source = options.source ?? findThreadSource();
  const onProblem = onlyChanges(options.onProblem ?? (() => {}));
  const restartedEvent = encodeEvent({ kind: 'end', end: restartedEnd });
  const { walLimitBytes = 256 * 1024 * 1024 } = options;
  const link = createStoreLink({ file, source, clock, restartedEvent, walLimitBytes, onProblem });
  const content = await openOrClose(link);
  const pruning = createPruning(link, clock, toRetention(options));
  let contentBytes = 0;
  const onContent = (sizeBytes: number) => {
    contentBytes = sizeBytes;
    pruning.seen(sizeBytes);
  };
  const {
    flushAfterMs = 40,
    contentAfterMs = 500,
    capacity = 50_000,
    capacityBytes = 32 * 1024 * 1024,
  } = options;
  const bounds = { flushAfterMs, contentAfterMs, capacity, capacityBytes };
  const writer = createGroupWriter({ link, clock, ...bounds, onProblem, onContent });
  return {
    records: createRunRecords(link, writer),
    log: createRunLog(link, writer),
    orders: createRunOrders(link, writer),
    identities: createIdentities(content, writer),
    keys: createKeys(content, writer),
    revisionOf: createRevisions(content, writer, clock),
    interrupted: content.interrupted,
    restored: content.restored,
    stats: {
      droppedRecords: () => writer.droppedRecords,
      lostEvents: () => writer.lostEvents,
      lagMs: () => writer.lagMs(),
      contentBytes: () => contentBytes,
    },
    changeRetention: (retention) => pruning.change(toRetention(retention)),
    close: () => closeAll(writer, pruning, link),
  };
}

function toRetention({ retentionMs, contentBytes, storedRetentionMs }: StoreRetention) {
  return {
    recordsMs: retentionMs ?? 7 * dayMs,
    contentBytes: contentBytes ?? 2 ** 31,
    storedMs: storedRetentionMs ?? 30 * dayMs,
  };
}

async function closeAll(writer: GroupWriter, pruning: Pruning, link: StoreLink): Promise<void> {
  pruning.stop();
  try {
    await writer.stop();
  } finally {
    await link.close();
  }
}

async function openOrClose(link: StoreLink): Promise<StoreContent> {
  try {
    return await link.open(true);
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

function createIdentities({ identities }: StoreContent, durable: GroupWriter): IdentityStore {
  const keyOf = (role: IdentityRole, name: string) => `${role}/${name}`;
  const rows = new Map(identities.map((row) => [keyOf(row.role, row.name), row]));
  return {
    find: (role, name) => rows.get(keyOf(role, name)),
    save(identity: StoredIdentity) {
      const key = keyOf(identity.role, identity.name);
      const epoch = Math.max(identity.epoch, rows.get(key)?.epoch ?? 0);
      rows.set(key, { ...identity, epoch });
      return durable.writeDurably({ kind: 'identity', identity });
    },
    names: (role) => [...rows.values()].filter((row) => row.role === role).map((row) => row.name),
  };
}

function createKeys({ keys }: StoreContent, durable: GroupWriter): KeyStore {
  const rows = new Map(keys.map((key) => [key.id, key]));
  return {
    find: (id) => rows.get(id),
    list: () => [...rows.values()],
    async save(key: StoredKey) {
      await durable.writeDurably({ kind: 'key', key });
      rows.set(key.id, key);
    },
  };
}

function createRevisions(
  { revision }: StoreContent,
  durable: GroupWriter,
  clock: Clock,
): (hash: string) => Promise<number> {
  let newest: ConfigRevision = revision ?? { revision: 0, hash: '', loadedAtMs: 0 };
  return async (hash) => {
    if (hash === newest.hash) return newest.revision;
    const next = { revision: newest.revision + 1, hash, loadedAtMs: clock.wall() };
    await durable.writeDurably({ kind: 'revision', revision: next });
    newest = next;
    return next.revision;
  };
}
