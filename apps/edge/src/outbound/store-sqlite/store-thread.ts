/**
 * The one thread that opens the Edge's SQLite file. Started from this file, or in a single-file binary
 * from its bundled text; so nothing here depends on where it lies.
 */
import type { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { isIopError } from '@iop/domain';
import { releaseMemory } from '@iop/shell/memory';
import { openDatabase } from './database.ts';
import { createDiskGuard, type DiskGuard } from './disk-guard.ts';
import { createDurableTables } from './durable-tables.ts';
import { createLogChain } from './log-chain.ts';
import { createLogEraser } from './log-eraser.ts';
import { createLogPages, type LogPages } from './log-pages.ts';
import { createLogTable } from './log-table.ts';
import type {
  OpenAsk,
  PruneBounds,
  SegmentPage,
  StoreAsk,
  StoreContent,
  StoreReply,
  StoreRequest,
  StoreWrite,
  WriteAnswer,
} from './messages.ts';
import { createOrderTable } from './order-table.ts';
import { createPruner, type Pruner } from './pruner.ts';
import { settleOpenRuns } from './restore.ts';
import { createRunTable } from './run-table.ts';
import { createUsageTable, type UsageTable } from './usage-table.ts';
import { type Tables, writeAll } from './write-all.ts';

interface OpenStore extends Tables {
  db: DatabaseSync;
  pages: LogPages;
  usage: UsageTable;
  pruner: Pruner;
  guard: DiskGuard;
}

let open: OpenStore | undefined;

function answer(ask: StoreAsk): unknown {
  if (ask.kind === 'open') return openStore(ask);
  if (open === undefined) throw new Error('the store is not open');
  const { db, runs, usage, pages, orders } = open;
  switch (ask.kind) {
    case 'write':
      return writeOnce(open, ask.write);
    case 'find-run':
      return runs.find(ask.runId);
    case 'list-runs':
      return runs.list(ask.query);
    case 'sum-usage':
      return usage.sum(ask.query);
    case 'read-log':
      return pages.read(ask.runId, ask.afterPos, ask.limitBytes);
    case 'find-order':
      return orders.find(ask.runId);
    case 'prune':
      return prune(open, ask.bounds);
    case 'close':
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      open = undefined;
      return undefined;
  }
}

function openStore(ask: OpenAsk): StoreContent {
  const db = openDatabase(ask.file);
  open = createTables(db, ask);
  const { durable } = open;
  const settled = ask.fresh ? settleOpenRuns(open, ask) : { interrupted: 0, restored: [] };
  const [identities, keys, revision] = [durable.identities(), durable.keys(), durable.newestRevision()];
  return { identities, keys, revision, ...settled };
}

function createTables(db: DatabaseSync, { file, walLimitBytes }: OpenAsk): OpenStore {
  const [runs, orders] = [createRunTable(db), createOrderTable(db)];
  const [durable, usage] = [createDurableTables(db), createUsageTable(db)];
  const chain = createLogChain(db);
  const logs = createLogTable(db, chain);
  const eraser = createLogEraser(db, logs, chain);
  const pruner = createPruner({ db, logs, eraser, orders, usage });
  const guard = createDiskGuard({ db, file, walLimitBytes, onRollback: () => logs.forgetCache() });
  return {
    db,
    guard,
    runs,
    logs,
    eraser,
    orders,
    durable,
    usage,
    pages: createLogPages(logs, chain),
    pruner,
  };
}

function writeOnce(store: OpenStore, write: StoreWrite): WriteAnswer {
  const created = store.guard.transact(write.full ? 'FULL' : 'NORMAL', () => writeAll(store, write));
  return { created, events: write.events, contentBytes: store.logs.totalBytes };
}

function prune(store: OpenStore, bounds: PruneBounds): boolean {
  return store.guard.transact('NORMAL', () => store.pruner.bite(bounds));
}

function reply(request: StoreRequest): StoreReply {
  try {
    return { id: request.id, kind: 'done', value: answer(request.ask) };
  } catch (reason) {
    const message = reason instanceof Error ? reason.message : String(reason);
    const code = isIopError(reason) ? reason.code : 'store.failed';
    return { id: request.id, kind: 'failed', code, message };
  }
}

/** Large answers are moved to the main thread, not copied. */
function movable(ask: StoreAsk, answered: StoreReply): ArrayBuffer[] {
  if (answered.kind === 'failed') return [];
  if (ask.kind === 'read-log') return bufferOf((answered.value as SegmentPage | undefined)?.bytes);
  return ask.kind === 'write' ? bufferOf(ask.write.events) : [];
}

function bufferOf(bytes: Uint8Array<ArrayBuffer> | undefined): ArrayBuffer[] {
  return bytes === undefined ? [] : [bytes.buffer];
}

parentPort?.on('message', (request: StoreRequest) => {
  const answered = reply(request);
  parentPort?.postMessage(answered, movable(request.ask, answered));
  if (request.ask.kind === 'open') releaseMemory();
  if (request.ask.kind === 'close') parentPort?.close();
});
