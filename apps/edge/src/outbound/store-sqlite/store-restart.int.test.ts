import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createSystemClock } from '@iop/shell';
import {
  attemptEvent,
  batchOf,
  completedEvent,
  plain,
  rawEvent,
  readAll,
} from '../../ports/run-log.contract.ts';
import { claimOf, creationOf, keptOrder } from '../../ports/run-orders.contract.ts';
import { endedRecord, recordOf } from '../../ports/run-records.contract.ts';
import { setUpStore } from './store.fixture.ts';
import { openSqliteStore } from './store.ts';

test('E15: the log of an attached run that was cut ends with its end, once', async () => {
  await using world = await setUpStore();
  world.records.save(recordOf({ runId: 'run_1' }));
  world.log.append(batchOf({ events: [attemptEvent, rawEvent('a')], lastSeq: 2 }));
  world.records.save(recordOf({ runId: 'run_2', state: 'queued' }));
  world.records.save(endedRecord({ runId: 'run_3' }));
  world.log.append(batchOf({ runId: 'run_3', events: [rawEvent('a'), completedEvent], lastSeq: 2 }));
  for (let restarts = 0; restarts < 2; restarts++) {
    const again = await world.reopen();
    const ends = async (runId: string) =>
      (await readAll(again.log, runId)).flatMap(({ pos, event }) =>
        event.kind === 'end'
          ? [[pos, event.end.kind === 'failed' ? event.end.failure.code : event.end.kind]]
          : [],
      );
    assert.deepEqual(await ends('run_1'), [[3, 'edge.restarted']]);
    assert.deepEqual(await ends('run_2'), [[1, 'edge.restarted']]);
    assert.deepEqual(await ends('run_3'), [[2, 'completed']]);
    assert.equal((await again.records.find('run_1'))?.lastPos, 3);
    assert.deepEqual(again.restored, []);
  }
});

test('detached runs without an end are given back with their order, last pos and last seq', async () => {
  await using world = await setUpStore();
  const { orders, log, records } = world;
  for (const runId of ['run_1', 'run_2', 'run_3', 'run_4']) await orders.create(creationOf(runId));
  const running = recordOf({ runId: 'run_2', runClass: 'detached', stored: true, attempts: 2 });
  records.save(running);
  log.append(batchOf({ runId: 'run_2', events: [attemptEvent, rawEvent('a')], attempt: 1, lastSeq: 9 }));
  log.append(batchOf({ runId: 'run_2', firstPos: 3, events: [attemptEvent], attempt: 0, lastSeq: 0 }));
  records.save(recordOf({ runId: 'run_3', runClass: 'detached', stored: true, attempts: 1 }));
  for (let pos = 1; pos < 6; pos++) {
    log.append(batchOf({ runId: 'run_3', firstPos: pos, lastSeq: pos, committed: () => {} }));
    if (pos % 2 === 0) await records.flush();
  }
  records.save(endedRecord({ runId: 'run_4', runClass: 'detached', stored: true }));
  const again = await world.reopen();
  assert.equal(again.interrupted, 0);
  assert.deepEqual(
    again.restored.map(({ record, lastPos, receivedSeq }) => [record.runId, lastPos, receivedSeq]),
    [
      ['run_1', 0, 0],
      ['run_2', 3, 0],
      ['run_3', 5, 5],
    ],
  );
  const [first, second] = again.restored;
  assert.deepEqual(first?.record, creationOf('run_1').record);
  assert.deepEqual({ ...first?.order, body: [] }, { ...keptOrder(), body: [] });
  assert.deepEqual([...(first?.order.body ?? [])], [...keptOrder().body]);
  assert.deepEqual(second?.record, running);
});

test('a detached run without its order cannot go on: it ends', async () => {
  await using world = await setUpStore();
  await world.orders.create(creationOf('run_1'));
  await world.orders.deleteContent('run_1');
  const again = await world.reopen();
  assert.deepEqual([again.interrupted, again.restored.length], [1, 0]);
  assert.equal((await again.records.find('run_1'))?.state, 'failed');
});

test('logs go on after a restart where they were', async () => {
  await using world = await setUpStore();
  await world.orders.create(creationOf('run_1'));
  world.log.append(batchOf({ events: [rawEvent('a'), rawEvent('b')], lastSeq: 2 }));
  const again = await world.reopen();
  again.log.append(batchOf({ firstPos: 3, events: [rawEvent('c'), completedEvent], lastSeq: 4 }));
  assert.deepEqual(
    plain((await readAll(again.log, 'run_1')).map(({ event }) => event)),
    plain([rawEvent('a'), rawEvent('b'), rawEvent('c'), completedEvent]),
  );
});

test('O1: claims hold across restarts', async () => {
  await using world = await setUpStore();
  await world.orders.create(creationOf('run_1', claimOf()));
  const again = await world.reopen();
  assert.deepEqual(await again.orders.create(creationOf('run_2', claimOf())), {
    kind: 'claimed',
    runId: 'run_1',
    bodyHash: 'aa',
  });
});

test('G2: what was called committed is there in a copy of the files taken at that moment', async () => {
  await using world = await setUpStore();
  const { log, orders, records } = world;
  await orders.create(creationOf('run_1', claimOf()));
  await new Promise<void>((resolve) => {
    records.save(endedRecord({ runId: 'run_1', runClass: 'detached', stored: true }));
    log.append(batchOf({ events: [rawEvent('a'), completedEvent], lastSeq: 2, committed: resolve }));
  });
  const copy = `${world.file}.copy`;
  for (const end of ['', '-wal']) await writeFile(copy + end, await readFile(world.file + end));
  const seen = await openSqliteStore({ file: copy, clock: createSystemClock() });
  assert.equal((await readAll(seen.log, 'run_1')).length, 2);
  assert.equal((await seen.records.find('run_1'))?.state, 'completed');
  await seen.close();
});
