import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { batchOf, rawEvent } from '../../ports/run-log.contract.ts';
import { recordOf } from '../../ports/run-records.contract.ts';
import { createManualClock } from '../../testing/manual-clock.ts';
import { createGroupWriter } from './group-writer.ts';
import type { StoreAsk, StoreWrite } from './messages.ts';
import type { StoreLink } from './store-link.ts';

test('a record nobody waits for is written after its time, content alone after a longer one', async () => {
  const { writer, after, writes } = setUp();
  writer.append(batchOf({ keepContent: true }));
  await after(199);
  assert.equal(writes.length, 0);
  await after(1);
  assert.deepEqual(writes.map(logsIn), [1]);
  writer.append(batchOf({ firstPos: 2, keepContent: true }));
  await after(10);
  writer.save(recordOf());
  await after(40);
  assert.equal(writes.length, 2, 'the record takes the content along');
  await after(1000);
  assert.equal(writes.length, 2);
});

test('content beyond what one transaction takes does not wait', async () => {
  const { writer, after, writes } = setUp();
  const half = rawEvent('x'.repeat(2 * 1024 * 1024));
  writer.append(batchOf({ events: [half], keepContent: true }));
  await after(0);
  assert.equal(writes.length, 0);
  writer.append(batchOf({ firstPos: 2, events: [half], keepContent: true }));
  await after(0);
  assert.equal(writes.length, 1);
});

test('what comes during a write has its own time', async () => {
  const { writer, after, writes, hold } = setUp();
  const release = hold();
  writer.save(recordOf());
  await after(40);
  writer.append(batchOf({ keepContent: true }));
  await after(100);
  release();
  await after(99);
  assert.equal(writes.length, 1);
  await after(1);
  assert.equal(writes.length, 2);
});

test('what is due during a write is written next, and a failed write not before a second has passed', async () => {
  const { writer, after, writes, hold } = setUp();
  const fail = hold(new Error('the disk is away'));
  writer.save(recordOf());
  await after(40);
  writer.append(batchOf({ keepContent: true }));
  await after(10);
  fail();
  await after(999);
  assert.equal(writes.length, 1);
  const release = hold();
  await after(1);
  assert.equal(writes.length, 2);
  writer.save(recordOf({ runId: 'run_2' }));
  await after(500);
  release();
  await after(0);
  assert.equal(writes.length, 3);
});

function setUp() {
  const clock = createManualClock();
  const writes: StoreWrite[] = [];
  let held: Promise<unknown> | undefined;
  const link = {
    async ask(ask: StoreAsk) {
      assert.equal(ask.kind, 'write');
      if (ask.kind === 'write') writes.push(ask.write);
      const waiting = held;
      held = undefined;
      await waiting;
      return { created: [], events: undefined, contentBytes: 0 };
    },
  } as unknown as StoreLink;
  const bounds = { flushAfterMs: 40, contentAfterMs: 200, capacity: 100, capacityBytes: 1e9 };
  const writer = createGroupWriter({ link, clock, ...bounds, onProblem: () => {}, onContent: () => {} });
  const after = async (ms: number) => {
    await turn();
    clock.advance(ms);
    await turn();
    clock.settle();
    await turn();
  };
  /** The next write is not answered before the function is called; then it fails with `reason`. */
  const hold = (reason?: Error) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    held = promise;
    return () => (reason === undefined ? resolve() : reject(reason));
  };
  return { writer, writes, after, hold };
}

function logsIn({ logs }: StoreWrite): number {
  return logs.filter((cell) => typeof cell === 'string').length;
}
