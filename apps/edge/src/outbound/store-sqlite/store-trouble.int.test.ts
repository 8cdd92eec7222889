import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, statfs, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createSystemClock } from '@iop/shell';
import { attemptEvent, batchOf, completedEvent, rawEvent, readAll } from '../../ports/run-log.contract.ts';
import { claimOf, creationOf } from '../../ports/run-orders.contract.ts';
import { endedRecord, recordOf } from '../../ports/run-records.contract.ts';
import { createTempDir } from '../../testing/temp-dir.ts';
import { setUpStore, until } from './store.fixture.ts';
import { openSqliteStore } from './store.ts';

const bigEvent = (text: string) => rawEvent(text.padEnd(10_000, '.'));

/** A file system of so many bytes, or undefined where mounting is not allowed. */
async function mountSmallDisk(sizeMib: number) {
  const dir = await createTempDir();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', dir.path]);
  if (status !== 0) {
    await dir[Symbol.asyncDispose]();
    return undefined;
  }
  return {
    path: dir.path,
    async [Symbol.asyncDispose]() {
      spawnSync('umount', ['-l', dir.path]);
      await dir[Symbol.asyncDispose]();
    },
  };
}

async function fillDisk(path: string): Promise<string> {
  const file = join(path, 'filler');
  const { bavail, bsize } = await statfs(path);
  await writeFile(file, new Uint8Array(bavail * bsize));
  return file;
}

function integrityOf(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db.prepare('PRAGMA integrity_check').get()?.integrity_check;
  } finally {
    db.close();
  }
}

test('F17: on a full disk creations are refused, nothing is lost that is waited for, and it recovers unaided', async (t) => {
  await using disk = await mountSmallDisk(8);
  if (disk === undefined) return t.skip('this user may not mount a tmpfs');
  const told: (string | undefined)[] = [];
  await using world = await setUpStore({ onProblem: (each) => told.push(each) }, disk.path);
  const { log, records, orders } = world;
  await orders.create(creationOf('run_0', claimOf()));
  const filler = await fillDisk(disk.path);
  const acked: number[] = [];
  for (let pos = 1; pos <= 300; pos++) {
    const events = [bigEvent(`${pos}`)];
    log.append(
      batchOf({ runId: 'run_0', firstPos: pos, events, lastSeq: pos, committed: () => acked.push(pos) }),
    );
  }
  await assert.rejects(records.flush(), { code: 'store.unavailable', message: /full/ });
  assert.match(told.at(-1) ?? '', /full/);
  await assert.rejects(
    orders.create({ ...creationOf('run_1', claimOf({ key: 'k2' })), order: bigOrder('run_1') }),
    { kind: 'unavailable', code: 'store.unavailable' },
  );
  assert.equal(await records.find('run_1'), undefined);
  assert.deepEqual(acked, [], 'what is not written is not acknowledged');
  await unlink(filler);
  await until(() => acked.length === 300);
  assert.deepEqual(
    acked,
    Array.from({ length: 300 }, (_, i) => i + 1),
  );
  assert.equal(told.at(-1), undefined, 'without anybody’s help');
  const claimed = await orders.create(creationOf('run_2', claimOf({ key: 'k2' })));
  assert.equal(claimed.kind, 'created', 'a refused creation has not taken its key');
  assert.equal((await readAll(log, 'run_0')).length, 300);
  await world.store.close();
  assert.equal(integrityOf(world.file), 'ok');
});

test('F17: where the database’s own log takes the last room, it gives it back', async (t) => {
  await using disk = await mountSmallDisk(8);
  if (disk === undefined) return t.skip('this user may not mount a tmpfs');
  const told: (string | undefined)[] = [];
  await using world = await setUpStore({ onProblem: (each) => told.push(each) }, disk.path);
  await world.records.commit(recordOf());
  // its pages are in the database then, which so need not grow
  const { records } = await world.reopen();
  const commit = () => records.commit(recordOf());
  for (let time = 0; time < 50; time++) await commit();
  await fillDisk(disk.path);
  for (let time = 0; time < 50; time++) await commit();
  assert.deepEqual(told, []);
});

function bigOrder(runId: string) {
  return { ...creationOf(runId).order, body: new Uint8Array(4_000_000) };
}

test('while the disk is away content that nobody waits for is given up beyond a bound, and is a gap then', async () => {
  await using world = await setUpStore({ capacityBytes: 100_000, flushAfterMs: 1 });
  const { log, records } = world;
  records.save(recordOf());
  await records.flush();
  const blocker = new DatabaseSync(world.file);
  blocker.exec('BEGIN IMMEDIATE');
  const acked: number[] = [];
  log.append(batchOf({ events: [attemptEvent], attempt: 0, lastSeq: 0 }));
  for (let pos = 2; pos <= 40; pos++)
    log.append(batchOf({ firstPos: pos, events: [bigEvent(`${pos}`)], lastSeq: pos }));
  for (let pos = 1; pos <= 40; pos++) {
    const committed = () => acked.push(pos);
    log.append(
      batchOf({ runId: 'run_2', firstPos: pos, events: [bigEvent(`${pos}`)], lastSeq: pos, committed }),
    );
  }
  log.append(batchOf({ firstPos: 41, events: [completedEvent], attempt: 0, lastSeq: 0 }));
  await assert.rejects(records.flush(), { code: 'store.unavailable' });
  assert.ok(world.store.stats.lostEvents() > 20);
  blocker.exec('COMMIT');
  blocker.close();
  await until(() => acked.length === 40);
  const left = await readAll(log, 'run_1');
  assert.equal(left[0]?.event.kind, 'attempt');
  assert.equal(left.at(-1)?.event.kind, 'end');
  assert.equal(left.at(-1)?.pos, 41);
  assert.equal(left.length, 41 - world.store.stats.lostEvents(), 'each loss is a gap, and is counted');
  assert.equal((await readAll(log, 'run_2')).length, 40, 'what is waited for is never given up');
});

test('WAL: a reader that never ends holds up writing at a bound, and its end frees it', async () => {
  const walLimitBytes = 2_000_000;
  const told: (string | undefined)[] = [];
  await using world = await setUpStore({ walLimitBytes, onProblem: (each) => told.push(each) });
  world.records.save(recordOf());
  await world.records.flush();
  const reader = new DatabaseSync(world.file, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM runs').get();
  let pos = 0;
  const sizeOf = async () => (await readFile(`${world.file}-wal`)).length;
  await assert.rejects(async () => {
    for (let i = 0; i < 200; i++) {
      const events = Array.from({ length: 5 }, () => bigEvent('x'));
      world.log.append(batchOf({ firstPos: pos + 1, events, lastSeq: pos + 5 }));
      pos += 5;
      await world.records.flush();
    }
  }, /another program reads it and so holds \d+ MiB/);
  assert.ok((await sizeOf()) < walLimitBytes * 1.5);
  reader.close();
  await until(() => told.at(-1) === undefined);
  await world.records.flush();
  assert.equal((await readAll(world.log, 'run_1')).length, pos);
  assert.ok((await sizeOf()) < walLimitBytes);
});

test('F19: a flipped bit in what cannot be made again is found at the start, and the file is left as it is', async () => {
  await using dir = await createTempDir();
  await using world = await setUpStore({}, dir.path);
  for (let i = 0; i < 200; i++) world.records.save(endedRecord({ runId: `run_${1000 + i}` }));
  await world.store.close();
  const bytes = await readFile(world.file);
  const pageBytes = 4096;
  let found = 0;
  for (let page = 1; page < bytes.length / pageBytes; page++) {
    const copy = Buffer.from(bytes);
    // the header of a page: its kind, and where its cells are
    copy[page * pageBytes] = (copy[page * pageBytes] ?? 0) ^ 0x10;
    const file = join(dir.path, `flipped-${page}.db`);
    await writeFile(file, copy);
    const outcome = await openSqliteStore({ file, clock: createSystemClock() }).then(
      (store) => store.close(),
      (reason) => {
        assert.equal(reason.code, 'config.store-corrupt');
        found++;
      },
    );
    assert.equal(outcome, undefined);
    if (found > 0) assert.deepEqual(await readFile(file), copy);
    if (page === 6) break;
  }
  assert.equal(found, 6);
});
