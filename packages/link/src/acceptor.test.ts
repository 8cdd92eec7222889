import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Role } from '@iop/wire';
import type { HelloInfo } from './handshake/dialer-handshake.ts';
import type { Identity } from './identity.ts';
import { cloneProbeMs } from './link-table.ts';
import { FakePeer } from './testing/fake-peer.ts';
import { createTestAcceptor, newIdentity, type TestAcceptor, testHello } from './testing/link-host.ts';
import { createManualClock, type ManualClock, settle } from './testing/manual-clock.ts';
import { createMemoryDuplex } from './testing/memory-duplex.ts';

interface Setup {
  clock: ManualClock;
  host: TestAcceptor;
  identity: Identity;
}

function setup(limits: object = {}): Setup {
  const clock = createManualClock();
  return { clock, host: createTestAcceptor({ clock, limits }), identity: newIdentity() };
}

function knock({ host, identity }: Setup, hello: Partial<HelloInfo> = {}): FakePeer {
  const duplex = createMemoryDuplex();
  const peer = new FakePeer(duplex.dialer, { identity, hello: testHello(hello), pins: [host.pin] });
  host.acceptor.accept(duplex.acceptor);
  return peer;
}

const first = new Uint8Array(16).fill(1);
const second = new Uint8Array(16).fill(2);

test('the same instance coming back fences its older link, which is told first (L11)', async () => {
  const world = setup();
  await knock(world, { instance: first }).enter();
  const old = world.host.links[0];
  const order: string[] = [];
  void old?.closed.then(() => order.push('old closed'));
  await knock(world, { instance: first }).enter();
  await settle();
  assert.ok(old?.outcome?.kind === 'closed-here' && old.outcome.reason.startsWith('fenced'));
  assert.equal(world.host.links[1]?.link.peer.epoch, 2);
  assert.equal(world.host.acceptor.links().length, 1);
});

test('another instance is refused as a clone while the first one answers, and both are named (L11)', async () => {
  const world = setup();
  const original = knock(world, { instance: first });
  await original.enter();
  const answer = await knock(world, { instance: second }).greet();
  assert.ok(answer.case === 'reject' && answer.value.code === 'identity.clone');
  assert.equal(answer.value.retryAfterMs, cloneProbeMs);
  const [rejection] = world.host.rejections;
  assert.ok(rejection?.message.includes('01010101') && rejection.message.includes('02020202'));
  original.send({ case: 'pong', value: { $typeName: 'iop.wire.v1.Pong', id: 0 } });
  await settle();
  world.clock.advance(cloneProbeMs);
  assert.equal(world.host.links[0]?.outcome, undefined);
});

test('a rebooted machine is let in after its dead link failed to answer (L11)', async () => {
  const world = setup();
  await knock(world, { instance: first }).enter();
  assert.equal((await knock(world, { instance: second }).greet()).case, 'reject');
  world.clock.advance(cloneProbeMs);
  assert.equal(world.host.links[0]?.outcome?.kind, 'silent');
  assert.equal((await knock(world, { instance: second }).greet()).case, 'welcome');
});

test('an admission that comes late does not fence the link that overtook it (L11)', async () => {
  const world = setup();
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const decide = world.host.decide;
  world.host.decide = async (peer) => {
    const admission = await decide(peer);
    if (world.host.admitted.length === 1) await gate;
    return admission;
  };
  const slow = knock(world, { instance: first });
  const slowAnswer = slow.greet();
  await settle();
  await settle();
  await knock(world, { instance: first }).enter();
  release();
  const answer = await slowAnswer;
  assert.ok(answer.case === 'reject' && answer.value.code === 'identity.fenced');
  assert.equal(world.host.links[0]?.outcome, undefined);
});

test('operators are many, under one name too', async () => {
  const world = setup();
  for (const instance of [first, second]) await knock(world, { role: Role.OPERATOR, instance }).enter();
  assert.equal(world.host.acceptor.links().length, 2);
});

test('roles do not disturb each other', async () => {
  const world = setup();
  await knock(world, { role: Role.NODE, instance: first }).enter();
  await knock(world, { role: Role.AGENT, instance: second }).enter();
  assert.equal(world.host.acceptor.links().length, 2);
});

test('a stalled handshake ends with words after its time, and leaves no timer (L3)', async () => {
  const world = setup();
  const peer = knock(world);
  await settle();
  world.clock.advance(10_000);
  assert.equal((await peer.next('reject')).value.code, 'link.handshake-timeout');
  await peer.closed;
  assert.equal(world.host.rejections[0]?.code, 'link.handshake-timeout');
  assert.equal(world.clock.pending, 0);
});

test('a peer that sends one byte at a time gains no time (L3)', async () => {
  const world = setup();
  const peer = knock(world);
  for (let second = 0; second < 10; second++) {
    peer.sendBytes(Uint8Array.of(0));
    await settle();
    world.clock.advance(1_000);
  }
  await peer.closed;
  assert.equal(world.host.rejections.length, 1);
});

test('a Hello larger than the limit is refused by its length alone (L3)', async () => {
  const world = setup();
  const peer = knock(world);
  peer.sendFrame(new Uint8Array(), 16 * 1024 + 1);
  assert.equal((await peer.next('reject')).value.code, 'wire.frame-too-large');
});

test('when all places are taken the oldest stalled handshake makes room, a fresh one does not (L3)', async () => {
  const world = setup({ handshakes: 2 });
  const stalled = [knock(world), knock(world)];
  const early = knock(world);
  await early.closed;
  assert.equal(world.host.rejections[0]?.code, 'link.busy');
  world.clock.advance(1_000);
  await knock(world).enter();
  await stalled[0]?.closed;
  assert.equal(stalled[1]?.closeReason, undefined);
});

test('a flood of stalled handshakes does not keep others out (F16, L3)', async () => {
  const world = setup({ handshakes: 8 });
  for (let count = 0; count < 100; count++) knock(world);
  world.clock.advance(1_000);
  for (let count = 0; count < 5; count++) {
    knock(world);
    await knock(world, { name: `n${count}` }).enter();
    world.clock.advance(1_000);
  }
  assert.equal(world.host.links.length, 5);
});

test('an admission that fails is a Reject without details for the peer and with the cause for the log', async () => {
  const world = setup();
  world.host.decide = () => {
    throw new Error('disk on fire');
  };
  const answer = await knock(world).greet();
  assert.ok(answer.case === 'reject' && answer.value.code === 'link.internal');
  assert.equal(answer.value.message.includes('fire'), false);
  assert.ok(world.host.rejections[0]?.message.includes('fire'));
});

test('a peer that left while it was admitted never goes live', async () => {
  const world = setup();
  let release: () => void = () => {};
  const decide = world.host.decide;
  world.host.decide = (peer) =>
    new Promise((resolve) => {
      release = () => resolve(decide(peer));
    });
  const peer = knock(world);
  void peer.greet().catch(() => {});
  await settle();
  await settle();
  peer.transport.destroy();
  await settle();
  release();
  await settle();
  assert.deepEqual([world.host.links.length, world.host.rejections[0]?.code], [0, 'link.lost']);
});

test('closing says Goodbye to all, each with its own delay within the spread, and takes nobody more', async () => {
  const world = setup();
  const peers = await Promise.all(
    Array.from({ length: 20 }, async (_, at) => {
      const peer = knock(world, { name: `n${at}` });
      await peer.enter();
      return peer;
    }),
  );
  world.host.acceptor.close('restart', 5_000);
  const delays = await Promise.all(
    peers.map(async (peer) => (await peer.next('goodbye')).value.reconnectAfterMs),
  );
  assert.ok(delays.every((delay) => delay >= 0 && delay <= 5_000));
  assert.ok(new Set(delays).size > 10, 'the delays are spread');
  await knock(world).closed;
  assert.equal(world.host.rejections.at(-1)?.code, 'link.busy');
});

test('an owner whose onLink throws loses that link only', async () => {
  const clock = createManualClock();
  const host = createTestAcceptor({
    clock,
    onLink: () => {
      throw new Error('a bug');
    },
  });
  const peer = knock({ clock, host, identity: newIdentity() });
  void peer.greet().catch(() => {});
  await peer.closed;
  assert.ok(host.rejections[0]?.cause instanceof Error);
  assert.equal(clock.pending, 0);
});
