import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventOverheadBytes } from '@iop/wire';
import { endEvent, rawEvent } from '../testing/events.ts';
import { createFakeLink } from '../testing/fake-link.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { Pump } from './pump.ts';
import { RunOutbox } from './run-outbox.ts';
import { SpareRoom } from './spare-room.ts';

function setup(spare: SpareRoom | undefined) {
  const pump = new Pump(createManualClock());
  pump.attach(createFakeLink());
  const sizes = { creditBytes: 100, ringBytes: 200 };
  const create = (runId: string) =>
    new RunOutbox({ runId, attempt: 1, ...sizes, pump, ...(spare === undefined ? {} : { spare }) });
  return { pump, create };
}

const event = (size: number) => rawEvent(new Uint8Array(size - eventOverheadBytes));

/** How many events of 50 bytes are taken before it says that there is no room. */
function fill(outbox: RunOutbox): number {
  for (let count = 1; count < 1_000; count++) if (!outbox.append(event(50))) return count;
  return Number.POSITIVE_INFINITY;
}

test('without spare room an outbox stops at its credit, with it at its ring and what it may take beyond (L23)', () => {
  assert.equal(fill(setup(undefined).create('r')), 2);
  assert.equal(fill(setup(new SpareRoom({ runBytes: 300 })).create('r')), 10);
});

test('it takes on without a link, and has room again as soon as acks come on the next one (L23)', () => {
  const { pump, create } = setup(new SpareRoom({ runBytes: 300 }));
  const outbox = create('r');
  pump.detach();
  assert.equal(fill(outbox), 10);
  let isRoom = false;
  outbox.whenRoom(() => (isRoom = true));
  pump.attach(createFakeLink());
  outbox.resume(0, 500);
  outbox.takeBatch(10_000);
  assert.equal(isRoom, false);
  outbox.ack(1);
  assert.equal(isRoom, true);
});

test('all outboxes together take no more than the bound, and give back what was acked or forgotten (L23)', () => {
  const spare = new SpareRoom({ runBytes: 300, totalBytes: 400 });
  const { create } = setup(spare);
  const [first, second, third] = [create('a'), create('b'), create('c')];
  assert.equal(fill(first), 10);
  assert.equal(fill(second), 6);
  assert.equal(spare.usedBytes, 400);
  // The ring of its own is never taken away.
  assert.equal(fill(third), 4);
  second.grant(1_000);
  second.takeBatch(10_000);
  second.ack(6);
  assert.equal(spare.usedBytes, 300);
  first.forget();
  assert.equal(spare.usedBytes, 0);
});

test('an outbox that was restored says what it holds and sends it again from anywhere in it (L24)', () => {
  const { pump } = setup(undefined);
  const restored = { firstSeq: 7, events: [event(50), event(60), endEvent()] };
  const outbox = RunOutbox.restore({ runId: 'r', attempt: 1, pump, ...restored });
  assert.deepEqual([outbox.firstKeptSeq, outbox.lastSeq, outbox.ended, outbox.finished], [7, 9, true, false]);
  const bare = RunOutbox.restore({ runId: 'r', attempt: 1, pump, firstSeq: 9, events: [endEvent()] });
  for (const each of [outbox, bare]) assert.equal(each.takeBatch(1_000), undefined);
  assert.equal(outbox.resume(5, 1_000), false);
  for (const afterSeq of [6, 7, 8]) {
    assert.equal(outbox.resume(afterSeq, 1_000), true);
    assert.deepEqual(outbox.takeBatch(1_000)?.events, restored.events.slice(afterSeq - 6));
  }
  assert.throws(() => outbox.append(event(50)), { code: 'event.after-end' });
  outbox.ack(9);
  assert.equal(outbox.finished, true);
});
