import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEvent } from '@iop/wire';
import { createRandom, type Random } from '@iop/wire/testing';
import { endEvent, rawEvent } from '../testing/events.ts';
import { createFakeLink, type FakeLink } from '../testing/fake-link.ts';
import { createManualClock, type ManualClock, settle } from '../testing/manual-clock.ts';
import { ackWithinMs, Ledger } from './ledger.ts';
import { maxPayloadBytes, Pump } from './pump.ts';
import { RunInbox } from './run-inbox.ts';
import { RunOutbox } from './run-outbox.ts';

/**
 * Outbox and inbox against each other over links that deliver part of what was sent, in order, and then
 * die: whatever the schedule, the reader sees exactly what was appended (L14–L18, L21).
 */
class Rig {
  readonly clock: ManualClock = createManualClock();
  readonly pump = new Pump(this.clock);
  readonly ledger = new Ledger(this.clock);
  /** Executor → Edge and back. */
  up: FakeLink = createFakeLink();
  down: FakeLink = createFakeLink();
  readonly outbox: RunOutbox;
  readonly inbox: RunInbox;
  readonly seen: RunEvent[] = [];
  readonly windowBytes: number;
  /** Events to emit, before the end. */
  readonly total: number;
  unread = 0;
  emitted = 0;
  paused = false;

  constructor(windowBytes: number, total: number) {
    this.windowBytes = windowBytes;
    this.total = total;
    this.pump.attach(this.up);
    this.ledger.attach(this.down);
    this.outbox = new RunOutbox({ runId: 'r', attempt: 1, creditBytes: windowBytes, pump: this.pump });
    this.inbox = new RunInbox({ runId: 'r', attempt: 1, windowBytes, ledger: this.ledger });
  }

  emit(random: Random): void {
    if (this.outbox.ended || this.paused) return;
    const data = new Uint8Array(random.pick([1, 40, 200, 3000])).fill(this.emitted);
    const room = this.outbox.append(this.emitted++ < this.total ? rawEvent(data) : endEvent());
    if (room) return;
    this.paused = true;
    this.outbox.whenRoom(() => {
      this.paused = false;
    });
  }

  deliverUp(count: number): void {
    for (const message of this.up.take().slice(0, count)) {
      assert.equal(message.case, 'runEvents');
      if (message.case !== 'runEvents') return;
      const step = this.inbox.receive(message.value);
      assert.notEqual(step.kind, 'gap');
      assert.notEqual(step.kind, 'overdrawn');
      if (step.kind !== 'fresh') continue;
      this.seen.push(...step.events);
      this.unread += step.sizeBytes;
    }
  }

  deliverDown(count: number): void {
    for (const message of this.down.take().slice(0, count)) {
      if (message.case === 'runAck') for (const { seq } of message.value.entries) this.outbox.ack(seq);
      if (message.case === 'runCredit')
        for (const { bytes } of message.value.entries) this.outbox.grant(bytes);
    }
  }

  read(sizeBytes: number): void {
    const taken = Math.min(sizeBytes, this.unread);
    this.unread -= taken;
    this.inbox.consumed(taken);
  }

  /** The link dies with part of what was on the way; the next one begins with inventory and resume. */
  cut(random: Random): void {
    this.deliverUp(random.below(this.up.sent.length + 1));
    this.deliverDown(random.below(this.down.sent.length + 1));
    this.pump.detach();
    this.ledger.detach();
    this.up = createFakeLink();
    this.down = createFakeLink();
    this.pump.attach(this.up);
    this.ledger.attach(this.down);
    const { afterSeq, eventCreditBytes } = this.inbox.resume();
    assert.equal(this.outbox.resume(afterSeq, eventCreditBytes), true);
  }
}

/** One step of a schedule, chosen by the dice. */
const steps: readonly ((rig: Rig, random: Random) => void | Promise<void>)[] = [
  (rig, random) => rig.emit(random),
  (rig, random) => rig.emit(random),
  (rig, random) => rig.emit(random),
  (rig, random) => rig.cut(random),
  (rig, random) => rig.read(random.below(2 * rig.windowBytes)),
  (rig) => rig.deliverUp(1e9),
  (rig) => rig.deliverDown(1e9),
  (rig) => rig.clock.advance(50),
  () => settle(),
  () => settle(),
];

async function play(seed: number): Promise<void> {
  const random = createRandom(seed);
  const rig = new Rig(random.pick([500, 16 * 1024, 256 * 1024]), 30 + random.below(100));
  while (!rig.inbox.ended) {
    await random.pick(steps)(rig, random);
    assert.ok(rig.inbox.heldBytes <= rig.windowBytes + maxPayloadBytes, 'more than a window is held');
  }
  const firstBytes = rig.seen.map((event) => (event.kind.case === 'raw' ? event.kind.value.data[0] : -1));
  assert.deepEqual(firstBytes, [...Array.from({ length: rig.total }, (_, at) => at), -1]);
  rig.clock.advance(ackWithinMs);
  await settle();
  rig.deliverDown(1e9);
  assert.equal(rig.outbox.finished, true, 'the end was not acked');
}

for (let seed = 1; seed <= 60; seed++) {
  test(`the reader sees exactly what was emitted, however links come and go (schedule ${seed})`, () =>
    play(seed));
}
