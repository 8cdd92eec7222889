import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  create,
  eventOverheadBytes,
  type RunAck,
  type RunCredit,
  type RunEvents,
  RunEventsSchema,
} from '@iop/wire';
import { endEvent, rawEvent } from '../testing/events.ts';
import { createFakeLink, type FakeLink } from '../testing/fake-link.ts';
import { createManualClock, type ManualClock, settle } from '../testing/manual-clock.ts';
import { ackWithinMs, Ledger } from './ledger.ts';
import { maxPayloadBytes } from './pump.ts';
import { RunInbox } from './run-inbox.ts';

interface Setup {
  clock: ManualClock;
  link: FakeLink;
  ledger: Ledger;
  inbox: RunInbox;
}

function setup(windowBytes = 1000, ackOn: 'receipt' | 'commit' = 'receipt'): Setup {
  const clock = createManualClock();
  const ledger = new Ledger(clock);
  const link = createFakeLink();
  ledger.attach(link);
  return { clock, link, ledger, inbox: new RunInbox({ runId: 'r', attempt: 1, windowBytes, ledger, ackOn }) };
}

const event = (size: number) => rawEvent(new Uint8Array(size - eventOverheadBytes));

function batch(firstSeq: number, count: number, size = 20): RunEvents {
  const events = Array.from({ length: count }, () => event(size));
  return create(RunEventsSchema, { runId: 'r', attempt: 1, firstSeq, events });
}

function end(firstSeq: number): RunEvents {
  return create(RunEventsSchema, { runId: 'r', attempt: 1, firstSeq, events: [endEvent()] });
}

async function acked(link: FakeLink): Promise<number[]> {
  await settle();
  const acks = link.take().filter((message) => message.case === 'runAck');
  return acks.flatMap((message) => (message.value as RunAck).entries.map((entry) => entry.seq));
}

test('each event is delivered once and in order (L14)', () => {
  const { inbox } = setup();
  const first = inbox.receive(batch(1, 3));
  assert.ok(first.kind === 'fresh' && first.events.length === 3 && first.sizeBytes === 60);
  assert.equal(inbox.receive(batch(1, 3)).kind, 'duplicate');
  const overlap = inbox.receive(batch(2, 4));
  assert.ok(overlap.kind === 'fresh' && overlap.events.length === 2 && overlap.firstSeq === 4);
  assert.equal(inbox.receivedSeq, 5);
});

test('a missing event is a gap and changes nothing (L14)', () => {
  const { inbox } = setup();
  inbox.receive(batch(1, 1));
  assert.deepEqual(inbox.receive(batch(3, 1)), { kind: 'gap', expectedSeq: 2, firstSeq: 3 });
  assert.equal(inbox.receive(batch(2, 1)).kind, 'fresh');
});

test('an executor that overdraws by more than one event is found out (L15)', () => {
  const { inbox } = setup(1000);
  assert.equal(inbox.receive(batch(1, 1, 1000)).kind, 'fresh');
  assert.equal(inbox.receive(batch(2, 1, maxPayloadBytes)).kind, 'fresh');
  assert.deepEqual(inbox.receive(batch(3, 1, 20)), {
    kind: 'overdrawn',
    byBytes: maxPayloadBytes + 20,
  });
});

test('acks leave within 50 ms, in one frame for all runs (L19)', async () => {
  const { inbox, ledger, link, clock } = setup();
  const other = new RunInbox({ runId: 'other', attempt: 2, windowBytes: 1000, ledger });
  inbox.receive(batch(1, 1));
  inbox.receive(batch(2, 1));
  other.receive(batch(1, 1));
  assert.equal(clock.pending, 1);
  clock.advance(ackWithinMs - 1);
  assert.deepEqual(link.sent, []);
  clock.advance(1);
  assert.equal(link.sent.length, 1);
  assert.deepEqual(await acked(link), [2, 1]);
  assert.equal(clock.pending, 0);
});

test('the end is acked as the rest, so that a quick run costs one ack with its neighbours (L19)', async () => {
  const { inbox, link, clock } = setup();
  inbox.receive(batch(1, 2));
  const step = inbox.receive(end(3));
  assert.ok(step.kind === 'fresh' && step.ended);
  await settle();
  assert.deepEqual(link.sent, []);
  clock.advance(ackWithinMs);
  assert.deepEqual(await acked(link), [3]);
});

test('credit comes back once a quarter of the window was consumed, with the ack before it (L18, L19)', async () => {
  const { inbox, link } = setup(1000);
  inbox.receive(batch(1, 3, 100));
  inbox.consumed(200);
  await settle();
  assert.deepEqual(link.sent, []);
  inbox.consumed(100);
  await settle();
  const [ack, credit] = link.take();
  assert.equal(ack?.case, 'runAck');
  assert.equal(credit?.case === 'runCredit' && (credit.value as RunCredit).entries[0]?.bytes, 300);
});

test('a slow reader gets no more than its window', () => {
  const { inbox } = setup(1000);
  inbox.receive(batch(1, 5, 200));
  assert.equal(inbox.heldBytes, 1000);
  assert.equal(inbox.takeCredit(), 0);
});

test('with acks on commit nothing is acked before it is durable', async () => {
  const { inbox, link, clock } = setup(1000, 'commit');
  inbox.receive(batch(1, 3));
  clock.advance(1000);
  assert.deepEqual(await acked(link), []);
  inbox.committed(2);
  clock.advance(ackWithinMs);
  assert.deepEqual(await acked(link), [2]);
});

test('a resume tells the last seq and the whole window, and what a dead link owed is told again (L21)', async () => {
  const { inbox, ledger, clock } = setup(1000);
  inbox.receive(batch(1, 4, 100));
  inbox.consumed(150);
  ledger.detach();
  assert.equal(clock.pending, 0);
  const next = createFakeLink();
  ledger.attach(next);
  assert.deepEqual(inbox.resume(), { afterSeq: 4, eventCreditBytes: 750 });
  clock.advance(ackWithinMs);
  assert.deepEqual(await acked(next), [4]);
  inbox.consumed(249);
  assert.equal(inbox.takeCredit(), 0);
  inbox.consumed(1);
  assert.equal(inbox.takeCredit(), 250);
});

test('events behind the end are ignored', () => {
  const { inbox } = setup();
  const both = create(RunEventsSchema, { firstSeq: 1, events: [endEvent(), event(20)] });
  const step = inbox.receive(both);
  assert.ok(step.kind === 'fresh' && step.events.length === 1);
  assert.equal(inbox.receive(batch(2, 1)).kind, 'duplicate');
  assert.equal(inbox.receive(batch(9, 1)).kind, 'duplicate');
});

test('an event that comes again is acked again: its ack may be what was lost', async () => {
  const { inbox, link, clock } = setup();
  inbox.receive(batch(1, 2));
  clock.advance(ackWithinMs);
  assert.deepEqual(await acked(link), [2]);
  inbox.receive(batch(1, 2));
  clock.advance(ackWithinMs);
  assert.deepEqual(await acked(link), [2]);
});
