import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '@iop/domain';
import { formatRunId } from '@iop/domain';
import { createSystemClock } from '@iop/shell';
import {
  attemptEvent,
  batchOf,
  completedEvent,
  failedEvent,
  rawEvent,
  readAll,
} from '../../ports/run-log.contract.ts';
import { claimOf, creationOf } from '../../ports/run-orders.contract.ts';
import { endedRecord, recordOf } from '../../ports/run-records.contract.ts';
import { type StoreWorld, setUpStore, until } from './store.fixture.ts';

const dayMs = 24 * 3_600_000;
const tables = [
  'runs',
  'run_logs',
  'attached_segments',
  'kept_segments',
  'run_marks',
  'run_orders',
  'claims',
];

/** Set anew by each test; its wall can be put forward. */
let shifted: Clock & { shiftMs: number };

function setUp(): Promise<StoreWorld> {
  const clock = createSystemClock();
  shifted = { ...clock, shiftMs: 0, wall: () => clock.wall() + shifted.shiftMs };
  return setUpStore({ clock: shifted });
}

let salt = 0;
const newId = () => formatRunId(createSystemClock().wall(), new Uint8Array(10).fill(++salt));

/** An ended run of so many events of 1 KB, each written by itself. */
async function playRun(
  world: StoreWorld,
  over: { detached?: boolean; events?: number } = {},
): Promise<string> {
  const { detached = false, events = 3 } = over;
  const runId = newId();
  if (detached)
    await world.orders.create(creationOf(runId, claimOf({ key: runId, claimedAtMs: shifted.wall() })));
  else world.records.save(recordOf({ runId }));
  world.log.append(batchOf({ runId, events: [attemptEvent], attempt: 0, lastSeq: 0 }));
  for (let i = 0; i < events; i++) {
    world.log.append(
      batchOf({ runId, firstPos: 2 + i, events: [rawEvent(`${i}`.padEnd(1000))], lastSeq: i + 1 }),
    );
    await world.records.flush();
  }
  world.log.append(
    batchOf({ runId, firstPos: 2 + events, events: [completedEvent], attempt: 0, lastSeq: 0 }),
  );
  const kept = { runClass: 'detached', stored: true } as const;
  const createdAtMs = createSystemClock().wall();
  world.records.save(endedRecord({ runId, createdAtMs, lastPos: 2 + events, ...(detached ? kept : {}) }));
  await world.records.flush();
  return runId;
}

test('records go after their retention and take along all that belongs to them', async () => {
  await using world = await setUp();
  for (let i = 0; i < 5; i++) await playRun(world, { events: 70 });
  const kept = await playRun(world, { detached: true, events: 70 });
  shifted.shiftMs = 8 * dayMs;
  world.store.changeRetention({});
  await until(() => world.count('runs') === 1);
  assert.equal((await readAll(world.log, kept)).length, 72, 'a detached run is kept for longer');
  assert.notEqual(await world.orders.find(kept), undefined);
  assert.deepEqual(
    ['attached_segments', 'run_logs', 'run_orders', 'claims'].map((table) => world.count(table)),
    [0, 1, 1, 0],
    'its claim is forgotten after a day',
  );
  assert.equal(world.count('content_total', 'bytes = 0'), 1);
  shifted.shiftMs = 31 * dayMs;
  world.store.changeRetention({});
  await until(() => world.count('runs') === 0);
  for (const table of tables) assert.equal(world.count(table), 0, table);
  const [sum] = await world.records.usage({ group: 'key', sinceMs: 0 });
  assert.equal(sum?.runs, 6, 'usage outlives them');
});

test('content of attached runs is bounded: the oldest goes, the Edge’s own events and stored runs stay', async () => {
  await using world = await setUp();
  const kept = await playRun(world, { detached: true, events: 30 });
  const ids: string[] = [];
  for (let i = 0; i < 6; i++) ids.push(await playRun(world, { events: 100 }));
  world.store.changeRetention({ contentBytes: 250_000 });
  await until(() => world.count('run_logs', 'kept = 0 AND has_content = 1') === 2);
  const kinds = async (runId: string) => (await readAll(world.log, runId)).map(({ event }) => event.kind);
  for (const runId of ids.slice(0, 4)) assert.deepEqual(await kinds(runId), ['attempt', 'end']);
  for (const runId of [...ids.slice(4)]) assert.equal((await kinds(runId)).length, 102);
  assert.equal((await kinds(kept)).length, 32);
  const [first = ''] = ids;
  const page = await world.log.read({ runId: first, afterPos: 1, limitBytes: 1000 });
  assert.equal(page.firstPos, 102, 'what is gone is a gap');
});

test('the bound holds while content keeps coming, also of one run that never ends', async () => {
  await using world = await setUp();
  world.store.changeRetention({ contentBytes: 300_000 });
  const runId = newId();
  world.records.save(recordOf({ runId }));
  for (let i = 0; i < 2000; i++) {
    world.log.append(
      batchOf({ runId, firstPos: i + 1, events: [rawEvent(`${i}`.padEnd(1000))], lastSeq: i + 1 }),
    );
    if (i % 5 === 0) await world.records.flush();
  }
  await world.records.flush();
  await until(async () => {
    world.records.save(recordOf({ runId }));
    await world.records.flush();
    return world.store.stats.contentBytes() <= 300_000;
  });
  world.log.append(
    batchOf({ runId, firstPos: 2001, events: [rawEvent('new'), completedEvent], lastSeq: 2002 }),
  );
  const left = await readAll(world.log, runId);
  assert.deepEqual(
    left.slice(-2).map(({ pos }) => pos),
    [2001, 2002],
  );
  for (const { pos, event } of left.slice(0, -2)) {
    assert.ok(event.kind === 'raw' && Number(new TextDecoder().decode(event.bytes)) === pos - 1);
  }
});

test('content and requests of stored runs can go before their records', async () => {
  await using world = await setUp();
  const runId = await playRun(world, { detached: true });
  shifted.shiftMs = 2 * dayMs;
  world.store.changeRetention({ storedRetentionMs: dayMs });
  await until(() => world.count('run_orders') === 0);
  assert.deepEqual(
    (await readAll(world.log, runId)).map(({ event }) => event.kind),
    ['attempt', 'end'],
  );
  assert.equal((await world.records.find(runId))?.state, 'completed');
});

test('live runs keep what they have, however old they are', async () => {
  await using world = await setUp();
  const runId = newId();
  await world.orders.create(creationOf(runId));
  world.log.append(batchOf({ runId, events: [attemptEvent, rawEvent('a')] }));
  await playRun(world);
  shifted.shiftMs = 90 * dayMs;
  world.store.changeRetention({ storedRetentionMs: dayMs });
  await until(() => world.count('runs') === 1);
  assert.equal((await readAll(world.log, runId)).length, 2);
  assert.notEqual(await world.orders.find(runId), undefined);
});

test('what an upstream answered is content: it goes, the end stays', async () => {
  await using world = await setUp();
  const runId = newId();
  world.log.append(batchOf({ runId, events: [attemptEvent, failedEvent] }));
  world.records.save(endedRecord({ runId }));
  await world.records.flush();
  const bodyOf = async () => {
    const end = (await readAll(world.log, runId)).at(-1)?.event;
    return end?.kind === 'end' && end.end.kind === 'failed' ? end.end.failure : undefined;
  };
  assert.equal((await bodyOf())?.upstream?.status, 500);
  world.store.changeRetention({ contentBytes: 0 });
  await until(() => world.count('run_logs', 'has_content = 1') === 0);
  const failure = await bodyOf();
  assert.deepEqual(
    [failure?.code, failure?.message, failure?.upstream],
    ['upstream.status', 'said 500', undefined],
  );
});
