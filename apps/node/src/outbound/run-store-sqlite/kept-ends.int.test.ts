import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it, type TestContext } from 'node:test';
import { createManualClock, type ManualClock } from '@iop/link/testing';
import { endStoreContract, keptEnd } from '../../ports/end-store.contract.ts';
import { runStart } from '../../ports/run-store.contract.ts';
import { silentLog } from '../../testing/node-fixture.ts';
import { openSqliteRunStore, type SqliteRunStoreOptions } from './run-store-sqlite.ts';
import { transact } from './transact.ts';

const directory = mkdtempSync(join(tmpdir(), 'iop-ends-'));
after(() => rmSync(directory, { recursive: true }));
let count = 0;

const dayMs = 24 * 3_600_000;

interface NewStore extends Partial<SqliteRunStoreOptions> {
  clock?: ManualClock;
}

function openNew({
  file = join(directory, `${++count}.db`),
  clock = createManualClock(),
  ...options
}: NewStore = {}) {
  const said: { message: string; run: unknown }[] = [];
  const say = (fields: object, message: string) =>
    void said.push({ message, run: Reflect.get(fields, 'run') });
  const log = { ...silentLog, warn: say, error: say };
  return { file, clock, said, store: openSqliteRunStore({ ...options, file, clock, log }) };
}

endStoreContract('the SQLite store', async () => {
  const { file, store } = openNew();
  const opened = [store];
  const blocker = new DatabaseSync(file);
  return {
    store,
    crash() {
      store.flush();
      const next = openNew({ file }).store;
      opened.push(next);
      return next;
    },
    refuse: (isRefusing) => blocker.exec(isRefusing ? 'BEGIN IMMEDIATE' : 'ROLLBACK'),
    async teardown() {
      blocker.close();
      for (const each of opened) each.close();
    },
  };
});

/** A closed store with what `fill` kept, after `harm` was done to its file. */
function damaged(test: TestContext, harm: string) {
  const { file, store } = openNew();
  store.keep([keptEnd('a'), keptEnd('b')]);
  store.close();
  const db = new DatabaseSync(file);
  db.exec(harm);
  db.close();
  const next = openNew({ file });
  test.after(() => next.store.close());
  return next;
}

const [, lastPart] = keptEnd('a').tail;

describe('SQLite end store: damage', () => {
  const harms: Record<string, { harm: string; tail: readonly unknown[] }> = {
    'a bit has flipped in the newest events': {
      harm: "UPDATE kept_parts SET bytes = x'06' WHERE end_id = 1 AND first_seq = 7",
      tail: [],
    },
    'a bit has flipped in older events': {
      harm: "UPDATE kept_parts SET bytes = x'00FF05' WHERE end_id = 1 AND first_seq = 4",
      tail: [lastPart],
    },
    'the newest events are missing': {
      harm: 'DELETE FROM kept_parts WHERE end_id = 1 AND first_seq = 7',
      tail: [],
    },
    'the number of an event has changed': {
      harm: 'UPDATE kept_parts SET first_seq = 5 WHERE end_id = 1 AND first_seq = 4',
      tail: [lastPart],
    },
  };
  for (const [what, { harm, tail }] of Object.entries(harms)) {
    it(`B4: gives what joins the end when ${what}, and says so`, (test) => {
      const { store, said } = damaged(test, harm);
      assert.deepEqual(store.kept(), [keptEnd('a', { tail: tail as never }), keptEnd('b')]);
      assert.deepEqual(said, [
        { message: 'events before the end of a run cannot be read any more', run: 'a' },
      ]);
    });
  }

  it('B4: gives the bare end when all its events are gone', (test) => {
    const { store } = damaged(test, 'DELETE FROM kept_parts WHERE end_id = 1');
    assert.deepEqual(store.kept(), [keptEnd('a', { tail: [] }), keptEnd('b')]);
  });

  for (const column of ["bytes = x'010204'", 'last_seq = 10', 'attempt = 2', "run_id = 'c'"]) {
    it(`B4: gives nothing of an attempt whose end is not what was written (${column})`, (test) => {
      const { store, said, file } = damaged(test, `UPDATE kept_ends SET ${column} WHERE id = 1`);
      assert.deepEqual(store.kept(), [keptEnd('b')]);
      assert.equal(said[0]?.message, 'the end of a run cannot be read any more');
      store.flush();
      const db = new DatabaseSync(file);
      const rows = (table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n;
      assert.deepEqual([rows('kept_ends'), rows('kept_parts')], [1, 2]);
      db.close();
    });
  }
});

describe('SQLite end store', () => {
  it('B1: is on the disk when it returns: the commit waits for it, and only this one', () => {
    const db = new DatabaseSync(join(directory, 'transact.db'));
    const level = () => db.prepare('PRAGMA synchronous').get()?.synchronous;
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    const seen: unknown[] = [];
    transact(db, 'FULL', () => seen.push(level()));
    assert.throws(() =>
      transact(db, 'FULL', () => {
        throw new Error('it fails');
      }),
    );
    transact(db, 'NORMAL', () => seen.push(level()));
    assert.deepEqual(seen, [2, 1]);
    db.close();
  });

  it('B1: writes the end of a run together with the history that it completes', () => {
    const { store, file } = openNew();
    store.startRun(runStart('a'));
    store.completeRun({ runId: 'a', attempt: 1, end: { kind: 'completed', finish: 'stop' }, endedAtMs: 1 });
    store.keep([keptEnd('a')]);
    const next = openNew({ file });
    assert.equal(next.store.recent(1)[0]?.end?.kind, 'completed');
    next.store.close();
    store.close();
  });

  it('S1: knows a detached run of a process that was killed right after its start', () => {
    const { store, file } = openNew();
    store.startRun({ ...runStart('a'), runClass: 'detached' });
    const next = openNew({ file });
    assert.equal(next.store.has({ runId: 'a', attempt: 1 }), true);
    assert.equal(next.store.recent(1)[0]?.end?.reason, 'node.restarted');
    next.store.close();
    store.close();
  });

  it('B1: says that the file is full, keeps nothing half, and takes more as soon as there is room', () => {
    const { store } = openNew({ maxFileBytes: 400 * 1024 });
    const big = (runId: string) =>
      keptEnd(runId, { tail: [{ firstSeq: 8, lastSeq: 8, bytes: new Uint8Array(200_000) }] });
    store.keep([big('a')]);
    assert.throws(() => store.keep([big('b')]), { code: 'store.refused', message: /full/ });
    store.keep([keptEnd('small')]);
    store.forget({ runId: 'a', attempt: 1 });
    store.flush();
    store.keep([big('b')]);
    assert.deepEqual(
      store.kept().map(({ runId }) => runId),
      ['small', 'b'],
    );
    store.close();
  });

  it('B5: gives up the oldest beyond its size, in words, and never the newest', () => {
    const { store, said } = openNew({ ends: { maxAgeMs: dayMs, maxBytes: 20 } });
    for (const runId of ['a', 'b', 'c', 'd']) store.keep([keptEnd(runId)]);
    assert.deepEqual(
      store.kept().map(({ runId }) => runId),
      ['c', 'd'],
    );
    assert.deepEqual(
      said.map(({ run }) => run),
      ['a', 'b'],
    );
    store.keep([keptEnd('huge', { end: new Uint8Array(100) })]);
    assert.deepEqual(
      store.kept().map(({ runId }) => runId),
      ['huge'],
    );
    store.close();
  });

  it('B5: gives up what is older than its bound, also at its start', () => {
    const clock = createManualClock();
    const { store, file } = openNew({ clock });
    store.keep([keptEnd('a', { endedAtMs: clock.wall() })]);
    clock.advance(4 * dayMs);
    store.keep([keptEnd('b', { endedAtMs: clock.wall() }), keptEnd('c', { endedAtMs: clock.wall() })]);
    store.close();
    clock.advance(4 * dayMs);
    const next = openNew({ file, clock });
    assert.deepEqual(
      next.store.kept().map(({ runId }) => runId),
      ['b', 'c'],
    );
    next.store.close();
  });

  it('takes over a file of the version before', () => {
    const { store, file } = openNew();
    store.startRun(runStart('a'));
    store.close();
    const db = new DatabaseSync(file);
    db.exec('DROP TABLE kept_ends; DROP TABLE kept_parts; PRAGMA user_version = 1');
    db.close();
    const next = openNew({ file });
    next.store.keep([keptEnd('b')]);
    assert.deepEqual(next.store.kept(), [keptEnd('b')]);
    assert.equal(next.store.recent(1)[0]?.runId, 'a');
    next.store.close();
  });
});
