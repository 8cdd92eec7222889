import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventOverheadBytes, type RunEvents, runEventSizeBytes } from '@iop/wire';
import { endEvent, rawEvent } from '../testing/events.ts';
import { createFakeLink, type FakeLink } from '../testing/fake-link.ts';
import { createManualClock, settle } from '../testing/manual-clock.ts';
import { maxPayloadBytes, Pump } from './pump.ts';
import { RunOutbox } from './run-outbox.ts';

interface Setup {
  pump: Pump;
  link: FakeLink;
  outbox: RunOutbox;
}

function setup(creditBytes = 1000): Setup {
  const pump = new Pump(createManualClock());
  const link = createFakeLink();
  pump.attach(link);
  return { pump, link, outbox: new RunOutbox({ runId: 'r', attempt: 1, creditBytes, pump }) };
}

/** Takes `size` of the window. */
const event = (size: number) => rawEvent(new Uint8Array(size - eventOverheadBytes));

async function sent(link: FakeLink): Promise<RunEvents[]> {
  await settle();
  return link.take().map((message) => message.value as RunEvents);
}

test('events get seqs from 1 without gaps, and those of one tick leave together (L14, L7)', async () => {
  const { outbox, link } = setup();
  outbox.append(event(20));
  outbox.append(event(20));
  const [first, ...none] = await sent(link);
  assert.deepEqual([first?.firstSeq, first?.events.length, none.length], [1, 2, 0]);
  outbox.append(event(20));
  assert.equal((await sent(link))[0]?.firstSeq, 3);
});

test('it sends while there is credit, overdraws by one event at most, and goes on with more (L15)', async () => {
  const { outbox, link } = setup(100);
  assert.equal(outbox.append(event(60)), true);
  assert.equal(outbox.append(event(60)), false);
  assert.equal(outbox.append(event(60)), false);
  assert.equal((await sent(link))[0]?.events.length, 2);
  outbox.grant(20);
  assert.deepEqual(await sent(link), []);
  outbox.grant(1);
  assert.equal((await sent(link))[0]?.firstSeq, 3);
});

test('the end needs no credit, but waits for what comes before it (L15)', async () => {
  const { outbox, link } = setup(10);
  outbox.append(event(60));
  outbox.append(event(60));
  outbox.append(endEvent());
  assert.equal((await sent(link))[0]?.events.length, 1);
  outbox.grant(51);
  assert.deepEqual(
    (await sent(link))[0]?.events.map((e) => e.kind.case),
    ['raw', 'end'],
  );
});

test('an end that need not wait for a reader leaves at once, without what was never sent (L14, L15)', async () => {
  const { outbox, link } = setup(10);
  outbox.append(event(60));
  await sent(link);
  outbox.append(event(60));
  outbox.append(event(60));
  outbox.discardUnsent();
  assert.deepEqual([outbox.lastSeq, outbox.waitingBytes], [1, 0]);
  outbox.append(endEvent());
  const [batch] = await sent(link);
  assert.deepEqual([batch?.firstSeq, batch?.events.length], [2, 1]);
  outbox.ack(2);
  assert.equal(outbox.finished, true);
});

test('whenRoom calls at once if there is room, else once when credit has come', () => {
  const { outbox } = setup(50);
  let calls = 0;
  outbox.whenRoom(() => calls++);
  assert.equal(calls, 1);
  outbox.append(event(60));
  outbox.whenRoom(() => calls++);
  assert.equal(calls, 1);
  outbox.grant(11);
  outbox.grant(11);
  assert.equal(calls, 2);
});

test('what is kept unacked is bounded even if credit comes without acks (L16)', async () => {
  const pump = new Pump(createManualClock());
  const link = createFakeLink();
  pump.attach(link);
  const outbox = new RunOutbox({ runId: 'r', attempt: 1, creditBytes: 1000, pump, ringBytes: 4000 });
  let taken = 0;
  while (outbox.append(event(100)) && taken < 1000) {
    taken++;
    outbox.grant(100);
  }
  assert.equal(taken, 39);
  await settle();
  outbox.ack(10);
  assert.equal(outbox.hasRoom, true);
});

test('without a link it keeps what the credit allows and says that there is no room (L16)', () => {
  const { outbox, pump } = setup(200);
  pump.detach();
  assert.equal(outbox.append(event(100)), true);
  assert.equal(outbox.append(event(100)), false);
});

test('on a new link it is silent until it is resumed (L17), then sends all after the given seq (L14, L21)', async () => {
  const { outbox, pump, link } = setup();
  for (let count = 0; count < 5; count++) outbox.append(event(20));
  await settle();
  outbox.ack(2);
  link.take();
  pump.detach();
  outbox.append(event(20));
  const next = createFakeLink();
  pump.attach(next);
  outbox.append(event(20));
  outbox.grant(5000);
  assert.deepEqual(await sent(next), []);
  assert.equal(outbox.resume(3, 1000), true);
  const [batch] = await sent(next);
  assert.deepEqual([batch?.firstSeq, batch?.events.length], [4, 4]);
});

test('a resume replaces what was known of credit (L21)', async () => {
  const { outbox, pump } = setup(10_000);
  outbox.append(event(100));
  outbox.append(event(100));
  const next = createFakeLink();
  pump.attach(next);
  outbox.resume(0, 50);
  assert.equal((await sent(next))[0]?.events.length, 1);
});

test('a resume from before what is kept, or beyond what was given, is refused', async () => {
  const { outbox } = setup();
  outbox.append(event(20));
  outbox.append(event(20));
  await settle();
  outbox.ack(2);
  assert.equal(outbox.resume(1, 1000), false);
  assert.equal(outbox.resume(3, 1000), false);
  assert.equal(outbox.resume(2, 1000), true);
});

test('an ack of what was never sent is not believed', () => {
  const { outbox } = setup(1);
  for (let count = 0; count < 3; count++) outbox.append(event(20));
  outbox.ack(99);
  assert.equal(outbox.firstKeptSeq, 1);
});

test('it is finished when its end was acked', async () => {
  const { outbox } = setup();
  outbox.append(endEvent());
  assert.deepEqual([outbox.ended, outbox.finished], [true, false]);
  await settle();
  outbox.ack(1);
  assert.equal(outbox.finished, true);
});

test('nothing may follow the end', () => {
  const { outbox } = setup();
  outbox.append(endEvent());
  assert.throws(() => outbox.append(event(20)), { code: 'event.after-end' });
});

test('no frame carries more than 64 KiB, and a large event comes out whole when its pieces are put together (L20)', async () => {
  const { outbox, link } = setup(10_000_000);
  const data = Uint8Array.from({ length: 500_000 }, (_, at) => at % 251);
  outbox.append(rawEvent(data));
  const batches = await sent(link);
  const pieces = batches.flatMap((batch) => batch.events.map((e) => e.kind.case === 'raw' && e.kind.value));
  for (const batch of batches) {
    assert.ok(batch.events.reduce((sum, e) => sum + runEventSizeBytes(e), 0) <= maxPayloadBytes);
  }
  assert.deepEqual(
    Buffer.concat(pieces.map((piece) => (piece ? piece.data : Buffer.alloc(0)))),
    Buffer.from(data),
  );
  assert.deepEqual(
    pieces.map((piece) => (piece === false ? undefined : piece.more)),
    [...pieces.slice(1).map(() => true), false],
  );
});

test('sources take turns, and stop while the socket has enough to do', async () => {
  const { pump, link, outbox } = setup(10_000_000);
  const other = new RunOutbox({ runId: 'other', attempt: 1, creditBytes: 10_000_000, pump });
  for (let count = 0; count < 3; count++) {
    outbox.append(rawEvent(new Uint8Array(60_000)));
    other.append(rawEvent(new Uint8Array(60_000)));
  }
  link.unsentBytes = 300_000;
  assert.deepEqual(await sent(link), []);
  link.unsentBytes = 0;
  pump.drained();
  assert.deepEqual(
    (await sent(link)).map((batch) => batch.runId),
    ['r', 'other', 'r', 'other', 'r', 'other'],
  );
});
