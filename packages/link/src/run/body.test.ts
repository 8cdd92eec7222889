import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunBody } from '@iop/wire';
import { createFakeLink, type FakeLink } from '../testing/fake-link.ts';
import { createManualClock, settle } from '../testing/manual-clock.ts';
import { BodyReceiver, type BodyStep } from './body-receiver.ts';
import { BodySender, bodyWindowBytes } from './body-sender.ts';
import { Ledger } from './ledger.ts';
import { maxPayloadBytes, Pump } from './pump.ts';

const whole = (size: number) => Uint8Array.from({ length: size }, (_, at) => (at * 7) % 256);

function setup(size: number, waitingBytes = 0) {
  const clock = createManualClock();
  const pump = new Pump(clock);
  const ledger = new Ledger(clock);
  const [up, down] = [createFakeLink(), createFakeLink()];
  down.unsentControlBytes = waitingBytes;
  pump.attach(down);
  ledger.attach(up);
  const body = whole(size);
  const sender = new BodySender({ runId: 'r', attempt: 1, body, pump });
  const request = { runId: 'r', attempt: 1, body: sender.firstPart, bodySize: size };
  return { pump, ledger, up, down, body, sender, receiver: new BodyReceiver({ request, ledger }) };
}

async function parts(link: FakeLink): Promise<RunBody[]> {
  await settle();
  return link.take().map((message) => message.value as RunBody);
}

test('a small body comes whole with its request, uncopied', () => {
  const { receiver, body } = setup(100);
  const step = receiver.begin();
  assert.ok(step.kind === 'complete' && step.body.buffer === body.buffer);
});

test('a large body crosses in parts of at most 64 KiB, against credit (L20, L22)', async () => {
  const { sender, receiver, up, down, body } = setup(1_000_000);
  sender.start();
  let last: BodyStep = receiver.begin();
  let rounds = 0;
  for (; last.kind !== 'complete' && rounds < 20; rounds++) {
    const arrived = await parts(down);
    assert.ok(arrived.reduce((sum, part) => sum + part.data.length, 0) <= bodyWindowBytes);
    for (const part of arrived) {
      assert.ok(part.data.length <= maxPayloadBytes);
      last = receiver.receive(part);
    }
    await settle();
    for (const message of up.take()) {
      if (message.case === 'runCredit') for (const { bytes } of message.value.entries) sender.grant(bytes);
    }
  }
  assert.ok(rounds > 2, 'the window was never used up');
  assert.ok(last.kind === 'complete' && Buffer.from(last.body).equals(body));
  assert.equal(sender.sent, true);
});

test('L25: while megabytes of requests wait, a request leaves without its body, which follows', async () => {
  const { sender, receiver, down, body } = setup(50_000, 2_000_000);
  assert.equal(sender.firstPart.length, 0);
  assert.equal(receiver.begin().kind, 'partial');
  sender.start();
  const [part] = await parts(down);
  assert.ok(part !== undefined);
  const step = receiver.receive(part);
  assert.ok(step.kind === 'complete' && Buffer.from(step.body).equals(body));
});

test('without credit the sender stops at its window', async () => {
  const { sender, down } = setup(1_000_000);
  sender.start();
  const size = (await parts(down)).reduce((sum, part) => sum + part.data.length, 0);
  assert.equal(size, bodyWindowBytes);
});

test('after a new link it goes on where the receiver says, and nothing is doubled (L17, L22)', async () => {
  const { sender, receiver, pump, down, body } = setup(300_000);
  sender.start();
  const [first] = await parts(down);
  receiver.receive(first as RunBody);
  const next = createFakeLink();
  pump.attach(next);
  sender.start();
  assert.deepEqual(await parts(next), []);
  receiver.resume();
  assert.equal(sender.resume(receiver.received), true);
  let step: BodyStep = { kind: 'partial' };
  for (const part of await parts(next)) step = receiver.receive(part);
  assert.ok(step.kind === 'complete' && Buffer.from(step.body).equals(body));
});

test('a part that comes twice is ignored, a hole or too much is an error (L22)', () => {
  const { receiver } = setup(200_000);
  const part = (offset: number, size: number): RunBody => ({
    $typeName: 'iop.wire.v1.RunBody',
    runId: 'r',
    attempt: 1,
    offset,
    data: new Uint8Array(size),
  });
  assert.equal(receiver.receive(part(0, maxPayloadBytes)).kind, 'duplicate');
  assert.equal(receiver.receive(part(maxPayloadBytes + 1, 10)).kind, 'broken');
  assert.equal(receiver.receive(part(maxPayloadBytes, 200_000)).kind, 'broken');
});

test('a receiver that claims more than there is, is not believed', () => {
  assert.equal(setup(100).sender.resume(101), false);
});
