import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { createManualClock } from '@iop/link/testing';
import { runStart, runStoreContract } from '../../ports/run-store.contract.ts';
import { silentLog } from '../../testing/node-fixture.ts';
import { openSqliteRunStore } from './run-store-sqlite.ts';

const directory = mkdtempSync(join(tmpdir(), 'iop-history-'));
after(() => rmSync(directory, { recursive: true }));
let count = 0;

function openNew(options: { file?: string; maxRuns?: number } = {}) {
  const file = options.file ?? join(directory, `history-${++count}.db`);
  const clock = createManualClock();
  const errors: string[] = [];
  const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) };
  return { file, clock, errors, store: openSqliteRunStore({ clock, log, ...options, file }) };
}

runStoreContract('the SQLite store', async () => {
  const { store } = openNew();
  return { store, teardown: async () => store.close() };
});

describe('SQLite run store', () => {
  it('S1: writes what came within 50 ms in one go, and leaves no timer behind', () => {
    const { store, clock, file } = openNew();
    const reader = new DatabaseSync(file, { readOnly: true });
    const rows = () => Number(reader.prepare('SELECT count(*) AS n FROM runs').get()?.n);
    for (let i = 0; i < 100; i++) store.startRun(runStart(`run${i}`));
    assert.equal(clock.pending, 1);
    assert.equal(rows(), 0);
    clock.advance(50);
    assert.equal(rows(), 100);
    assert.equal(clock.pending, 0);
    reader.close();
    store.close();
  });

  it('S3: finds a run that was open when the process died as node.restarted', () => {
    const first = openNew();
    first.store.startRun(runStart('a'));
    first.store.flush();
    const second = openNew({ file: first.file });
    assert.equal(second.store.recent(1)[0]?.end?.reason, 'node.restarted');
    second.store.close();
    first.store.close();
  });

  it('S4: keeps no more than its bound', () => {
    const { store } = openNew({ maxRuns: 10 });
    for (let i = 0; i < 25; i++) {
      store.startRun(runStart(`run${i}`));
      store.flush();
    }
    const kept = store.recent(100);
    assert.equal(kept.length, 10);
    assert.equal(kept[0]?.runId, 'run24');
    store.close();
  });

  it('writes what waits when it is closed', () => {
    const { store, file } = openNew();
    store.startRun(runStart('a'));
    store.close();
    const again = openNew({ file });
    assert.equal(again.store.recent(1)[0]?.runId, 'a');
    again.store.close();
  });

  it('remembers the highest epoch over restarts', () => {
    const { store, file } = openNew();
    assert.equal(store.lastEpoch, 0);
    store.rememberEpoch(7);
    store.rememberEpoch(5);
    store.close();
    const again = openNew({ file });
    assert.equal(again.store.lastEpoch, 7);
    again.store.close();
  });

  it('refuses a file of a newer version in words, and leaves it alone', () => {
    const { store, file } = openNew();
    store.close();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA user_version = 9');
    db.close();
    assert.throws(() => openNew({ file }), { code: 'store.newer', message: /update iop-node/ });
  });

  it('refuses a file that is no database in words', () => {
    const file = join(directory, 'garbage.db');
    writeFileSync(
      file,
      'this is not a database, not at all, and it is long enough to look like one'.repeat(20),
    );
    assert.throws(() => openNew({ file }), { code: 'store.unusable', message: /move it away/ });
  });

  it('S1: goes on without the disk, says so once, and catches up', () => {
    const { store, clock, errors, file } = openNew();
    const blocker = new DatabaseSync(file);
    blocker.exec('BEGIN IMMEDIATE');
    store.startRun(runStart('a'));
    clock.advance(50);
    clock.advance(1_000);
    assert.deepEqual(errors.length, 1);
    blocker.exec('ROLLBACK');
    blocker.close();
    clock.advance(1_000);
    assert.equal(store.recent(1)[0]?.runId, 'a');
    store.close();
  });
});
