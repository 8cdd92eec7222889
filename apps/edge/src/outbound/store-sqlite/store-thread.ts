/**
 * The one thread that opens the Edge's SQLite file. Started from this file, or in a single-file binary
 * from its bundled text; so nothing here depends on where it lies.
 */
import type { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { isIopError } from '@iop/domain';
import { releaseMemory } from '@iop/shell/memory';
import { inTransaction, openDatabase } from './database.ts';
import { createDurableTables, type DurableTables } from './durable-tables.ts';
import type { StoreAsk, StoreContent, StoreReply, StoreRequest } from './messages.ts';
import { createRunTable, type RunTable } from './run-table.ts';
import { createUsageTable, type UsageTable } from './usage-table.ts';

interface OpenStore {
  db: DatabaseSync;
  runs: RunTable;
  durable: DurableTables;
  usage: UsageTable;
}

let open: OpenStore | undefined;

function answer(ask: StoreAsk): unknown {
  if (ask.kind === 'open') return openStore(ask);
  if (open === undefined) throw new Error('the store is not open');
  const { db, runs, durable, usage } = open;
  switch (ask.kind) {
    case 'write-runs':
      return inTransaction(db, 'NORMAL', () => runs.write(ask.cells));
    case 'write-durably':
      return inTransaction(db, 'FULL', () => {
        for (const write of ask.writes) durable.write(write);
      });
    case 'find-run':
      return runs.find(ask.runId);
    case 'list-runs':
      return runs.list(ask.query);
    case 'sum-usage':
      return usage.sum(ask.query);
    case 'prune-runs':
      return prune(open, ask);
    case 'close':
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      open = undefined;
      return undefined;
  }
}

function openStore(ask: StoreAsk & { kind: 'open' }): StoreContent {
  const db = openDatabase(ask.file);
  open = { db, runs: createRunTable(db), durable: createDurableTables(db), usage: createUsageTable(db) };
  const { runs, durable } = open;
  let interrupted = 0;
  if (ask.fresh) {
    inTransaction(db, 'NORMAL', () => {
      interrupted = runs.interrupt(ask.nowMs);
    });
  }
  const [identities, keys, revision] = [durable.identities(), durable.keys(), durable.newestRevision()];
  return { identities, keys, revision, interrupted };
}

/** A run is in its day's sum from the moment in which its record is gone: counted once, whatever happens. */
function prune({ db, runs, usage }: OpenStore, ask: StoreAsk & { kind: 'prune-runs' }): number {
  const upTo = runs.lastToPrune(ask.before, ask.limit);
  let gone = 0;
  inTransaction(db, 'NORMAL', () => {
    usage.forgetDaysBefore(ask.daysBefore);
    if (upTo === undefined) return;
    usage.rollUp(upTo);
    gone = runs.prune(upTo);
  });
  return gone;
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

parentPort?.on('message', (request: StoreRequest) => {
  parentPort?.postMessage(reply(request));
  if (request.ask.kind === 'open') releaseMemory();
  if (request.ask.kind === 'close') parentPort?.close();
});
