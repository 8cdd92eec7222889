import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { formatRunId } from '@iop/domain';
import { createSystemClock } from '@iop/shell';
import { identityOf, identityStoreContract } from '../../ports/identity-store.contract.ts';
import { keyOf, keyStoreContract } from '../../ports/key-store.contract.ts';
import { runLogContract } from '../../ports/run-log.contract.ts';
import { runOrdersContract } from '../../ports/run-orders.contract.ts';
import { endedRecord, recordOf, runRecordsContract } from '../../ports/run-records.contract.ts';
import { createTempDir } from '../../testing/temp-dir.ts';
import { migrations } from './migrations.ts';
import { setUpStore } from './store.fixture.ts';
import { openSqliteStore } from './store.ts';

const setUp = setUpStore;

runRecordsContract('sqlite', () => setUp());
runLogContract('sqlite', () => setUp());
runOrdersContract('sqlite', () => setUp());
identityStoreContract('sqlite', () => setUp());
keyStoreContract('sqlite', () => setUp());

const all = { limit: 1000, states: [], before: undefined };

test('everything is there after a restart; keys stay private to their hash', async () => {
  await using world = await setUp();
  await world.identities.save(identityOf({ epoch: 41 }));
  await world.keys.save(keyOf());
  world.records.save(endedRecord());
  const again = await world.reopen();
  assert.equal(again.identities.find('node', 'gpu-1')?.epoch, 41);
  assert.deepEqual(again.keys.find('aaaaaaaa'), keyOf());
  assert.deepEqual(await again.records.list(all), [endedRecord()]);
  assert.equal(again.interrupted, 0);
});

test('E15: a run without an end is edge.restarted after a restart, an ended one stays as it was', async () => {
  await using world = await setUp();
  world.records.save(recordOf({ runId: 'run_1' }));
  world.records.save(recordOf({ runId: 'run_2', state: 'queued', node: '' }));
  world.records.save(endedRecord({ runId: 'run_3' }));
  const again = await world.reopen();
  assert.equal(again.interrupted, 2);
  const runs = await again.records.list(all);
  const codes = runs.map(({ end }) => (end?.kind === 'failed' ? end.failure.code : end?.kind));
  assert.deepEqual(codes, ['completed', 'edge.restarted', 'edge.restarted']);
  assert.ok(runs.every((run) => run.endedAtMs !== undefined));
});

test('what was acknowledged as durable survives a process that never closed its store', async () => {
  await using world = await setUp();
  await world.identities.save(identityOf({ epoch: 3 }));
  const copy = `${world.file}.copy`;
  for (const end of ['', '-wal']) await writeFile(copy + end, await readFile(world.file + end));
  const seen = await openSqliteStore({ file: copy, clock: createSystemClock() });
  assert.equal(seen.identities.find('node', 'gpu-1')?.epoch, 3);
  await seen.close();
});

test('a configuration keeps its number while its content is the same', async () => {
  await using world = await setUp();
  assert.equal(await world.store.revisionOf('a'), 1);
  assert.equal(await world.store.revisionOf('a'), 1);
  assert.equal(await world.store.revisionOf('b'), 2);
  const again = await world.reopen();
  assert.equal(await again.revisionOf('b'), 2);
  assert.equal(await again.revisionOf('a'), 3, 'an old content is a new revision');
});

test('a store of a newer program is refused in words, and the file is left alone', async () => {
  await using world = await setUp();
  await world.store.close();
  const db = new DatabaseSync(world.file);
  db.exec('PRAGMA user_version = 99');
  db.close();
  await assert.rejects(openSqliteStore({ file: world.file, clock: createSystemClock() }), {
    code: 'config.store-newer',
    message: /written by a newer iop-edge \(schema 99/,
  });
});

test('a damaged store is refused in words, never reset', async () => {
  await using dir = await createTempDir();
  const file = join(dir.path, 'state.db');
  await writeFile(file, 'this is no database, but it is as long as one has to be'.repeat(100));
  await assert.rejects(openSqliteStore({ file, clock: createSystemClock() }), {
    code: 'config.store-corrupt',
  });
  assert.match(await readFile(file, 'utf8'), /this is no database/);
});

test('a directory that is not there is said', async () => {
  const file = '/nowhere/at/all/state.db';
  await assert.rejects(openSqliteStore({ file, clock: createSystemClock() }), {
    kind: 'unavailable',
    message: /\/nowhere\/at\/all\/state.db/,
  });
});

test('the thread also starts from source text, as in a single-file binary', async () => {
  const url = new URL('./store-thread.ts', import.meta.url);
  await using world = await setUp({ source: { kind: 'text', code: `import(${JSON.stringify(url.href)})` } });
  world.records.save(endedRecord());
  assert.equal((await world.records.list(all)).length, 1);
});

test('E14: while the store cannot write, saves go on, the problem is told, and nothing is lost after it', async () => {
  const told: (string | undefined)[] = [];
  await using world = await setUp({ onProblem: (problem) => told.push(problem), flushAfterMs: 1 });
  const blocker = new DatabaseSync(world.file);
  blocker.exec('BEGIN IMMEDIATE');
  world.records.save(endedRecord());
  await assert.rejects(world.records.flush(), { code: 'store.unavailable' });
  assert.match(told.at(-1) ?? '', /locked/);
  assert.ok(world.store.stats.lagMs() > 0);
  await assert.rejects(world.identities.save(identityOf()), { code: 'store.unavailable' });
  world.records.save(endedRecord({ runId: 'run_2' }));
  blocker.exec('COMMIT');
  blocker.close();
  await world.records.flush();
  assert.equal((await world.records.list(all)).length, 2);
  assert.equal(told.at(-1), undefined);
});

test('what waits is bounded: the oldest records go, and are counted', async () => {
  await using world = await setUp({ capacity: 10, flushAfterMs: 60_000 });
  for (let i = 10; i < 35; i++) world.records.save(endedRecord({ runId: `run_${i}` }));
  assert.equal(world.store.stats.droppedRecords(), 15);
  assert.equal((await world.records.list(all)).at(-1)?.runId, 'run_25');
});

test('ended runs older than the retention are deleted, live and young ones stay', async () => {
  const dayMs = 24 * 3_600_000;
  const clock = createSystemClock();
  const timers: { delayMs: number; callback: () => void }[] = [];
  const hurried = {
    ...clock,
    after(delayMs: number, callback: () => void) {
      timers.push({ delayMs, callback });
      return delayMs < 5000 ? clock.after(delayMs, callback) : () => {};
    },
  };
  await using world = await setUp({ clock: hurried });
  const idOf = (ageDays: number, salt: number) =>
    formatRunId(clock.wall() - ageDays * dayMs, new Uint8Array(10).fill(salt));
  const old = Array.from({ length: 2500 }, (_, i) => idOf(8 + i / 1000, i % 250));
  const createdAtMs = clock.wall() - 8 * dayMs;
  for (const runId of old) world.records.save(endedRecord({ runId, createdAtMs }));
  world.records.save(recordOf({ runId: idOf(9, 255) }));
  world.records.save(endedRecord({ runId: idOf(6, 1) }));
  const usage = () => world.records.usage({ group: 'key', sinceMs: 0 });
  const before = await usage();
  assert.equal(before[0]?.promptTokens, 2501 * 3);
  timers.find((timer) => timer.delayMs === 5000)?.callback();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (timers.some((timer) => timer.delayMs === 3_600_000)) break;
  }
  const left = await world.records.list(all);
  assert.deepEqual(
    left.map((record) => record.state),
    ['completed', 'starting'],
  );
  assert.deepEqual(await usage(), before, 'usage outlives the records, and nothing is counted twice');
  const recent = await world.records.usage({ group: 'key', sinceMs: clock.wall() - 7 * dayMs });
  assert.equal(recent[0]?.runs, 1);
});

test('a store of the first schema keeps its keys without limits, and its usage', async () => {
  await using dir = await createTempDir();
  const file = join(dir.path, 'state.db');
  const old = new DatabaseSync(file);
  old.exec(migrations[0] ?? '');
  old.exec('PRAGMA user_version = 1');
  old.exec(`INSERT INTO api_keys VALUES ('aaaaaaaa', 'laptop', '${'ab'.repeat(32)}', 5, NULL)`);
  const end = {
    kind: 'completed',
    finish: 'stop',
    usage: { promptTokens: 3, completionTokens: 4, estimated: true },
  };
  old
    .prepare(
      `INSERT INTO runs VALUES ('run_1', 'completed', 'openai', 'aaaaaaaa', 'm', 'a', 't', 'n', 1, 5, 5, 6, ?)`,
    )
    .run(JSON.stringify(end));
  old.close();
  const store = await openSqliteStore({ file, clock: createSystemClock() });
  assert.deepEqual(store.keys.find('aaaaaaaa'), keyOf({ name: 'laptop' }));
  const [sum] = await store.records.usage({ group: 'key', sinceMs: 0 });
  assert.deepEqual([sum?.promptTokens, sum?.completionTokens, sum?.estimated, sum?.unmeasured], [3, 4, 1, 0]);
  assert.equal((await store.records.find('run_1'))?.route, '');
  await store.close();
});

test('a store thread that dies is started anew; live runs are not ended by it', async () => {
  const told: (string | undefined)[] = [];
  const url = new URL('./store-thread.ts', import.meta.url);
  const code = `
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', ({ ask }) => { if (ask.runId === 'die') process.exit(3); });
    import(${JSON.stringify(url.href)});`;
  await using world = await setUp({ source: { kind: 'text', code }, onProblem: (each) => told.push(each) });
  world.records.save(recordOf());
  await world.records.flush();
  await assert.rejects(world.records.find('die'), { code: 'store.unavailable' });
  assert.equal(told.length, 1);
  for (let i = 0; i < 500 && told.at(-1) !== undefined; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal((await world.records.find('run_1'))?.state, 'starting');
});
