import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { create, type Hello, RunAckSchema, RunBodySchema, type WireMessage } from '@iop/wire';
import { attemptLink } from '../attempt.ts';
import type { Identity } from '../identity.ts';
import { nodeCrypto } from '../tcp/identity.ts';
import type { Dial, Transport } from '../transport.ts';
import { FakePeer } from './fake-peer.ts';
import {
  createTestAcceptor,
  newIdentity,
  type SeenLink,
  type TestAcceptor,
  testDial,
  testHello,
  until,
} from './link-host.ts';

/** A transport under test, both ends of it. */
export interface ContractWorld {
  dial: Dial;
  /** Where accepted transports go, from now on. */
  onTransport: (transport: Transport) => void;
  close(): Promise<void>;
}

/** What the suite needs to know of a kind of transport. */
export interface ContractSubject {
  /** @param identity of the accepting side */
  open(identity: Identity): Promise<ContractWorld>;
  /** Whether it has a TLS exporter. */
  bound: boolean;
}

interface Linked {
  world: ContractWorld;
  host: TestAcceptor;
  /** The accepting side. */
  near: SeenLink;
  /** The dialing side. */
  far: SeenLink;
}

const never = new AbortController().signal;

/** What a link promises, over whatever carries it: T1–T3 of `Transport` and L1–L11 of DESIGN.md. */
export function linkContract(name: string, subject: ContractSubject): void {
  const suite = (title: string, run: (t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, { timeout: 30_000 }, run);
  };
  transportContract(suite, subject);
  lifeContract(suite, subject);
  abuseContract(suite, subject);
}

type Suite = (title: string, run: (t: TestContext) => Promise<void>) => void;

/** Closed at the end of the test, with every transport that was dialed. */
async function openWorld(
  t: TestContext,
  subject: ContractSubject,
  identity = newIdentity(),
): Promise<ContractWorld> {
  const world = await subject.open(identity);
  const dialed: Transport[] = [];
  const dial: Dial = async (signal) => {
    const transport = await world.dial(signal);
    dialed.push(transport);
    return transport;
  };
  t.after(() => {
    for (const transport of dialed) transport.destroy();
    return world.close();
  });
  return {
    dial,
    close: () => world.close(),
    set onTransport(take: ContractWorld['onTransport']) {
      world.onTransport = take;
    },
  };
}

async function openPair(t: TestContext, subject: ContractSubject): Promise<[Transport, Transport]> {
  const world = await openWorld(t, subject);
  const accepted = new Promise<Transport>((resolve) => {
    world.onTransport = resolve;
  });
  const dialed = await world.dial(never);
  return [dialed, await accepted];
}

async function openLinked(t: TestContext, subject: ContractSubject): Promise<Linked> {
  const host = createTestAcceptor();
  const world = await openWorld(t, subject, host.identity);
  world.onTransport = (transport) => host.acceptor.accept(transport);
  const options = testDial({ dial: world.dial, pins: [host.pin] });
  const outcome = await attemptLink(options, never);
  assert.equal(outcome.kind, 'linked', JSON.stringify(outcome));
  await until(() => host.links.length === 1, 'the link went live');
  return { world, host, near: host.links[0] as SeenLink, far: options.seen[0] as SeenLink };
}

async function openFake(
  t: TestContext,
  subject: ContractSubject,
  token = '',
): Promise<{ host: TestAcceptor; peer: FakePeer }> {
  const host = createTestAcceptor();
  const world = await openWorld(t, subject, host.identity);
  world.onTransport = (transport) => host.acceptor.accept(transport);
  const options = { identity: newIdentity(), hello: testHello(), pins: [host.pin], token };
  return { host, peer: new FakePeer(await world.dial(never), options) };
}

function ack(seq: number): WireMessage {
  return { case: 'runAck', value: create(RunAckSchema, { entries: [{ runId: 'r', attempt: 1, seq }] }) };
}

function body(offset: number, sizeBytes = 60_000): WireMessage {
  return {
    case: 'runBody',
    value: create(RunBodySchema, { runId: 'r', attempt: 1, offset, data: new Uint8Array(sizeBytes) }),
  };
}

const seqsOf = (messages: readonly WireMessage[]): number[] =>
  messages.flatMap((message) =>
    message.case === 'runAck' ? message.value.entries.map((entry) => entry.seq) : [],
  );

function transportContract(suite: Suite, subject: ContractSubject): void {
  suite('bytes arrive in order, both ways at once, with backpressure on the way (T1)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    const sums = await Promise.all([flow(dialed, accepted, 16_000_000), flow(accepted, dialed, 16_000_000)]);
    assert.deepEqual(
      sums.map((sum) => sum.inOrder),
      [true, true],
    );
    assert.ok(
      sums.every((sum) => sum.refusals > 0),
      'write never answered false',
    );
  });

  suite('end lets everything leave; both sides are told once (T2)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    let received = 0;
    const told: string[] = [];
    const gone = new Promise<void>((resolve) => {
      const tell = (who: string): void => {
        told.push(who);
        if (told.length === 2) resolve();
      };
      accepted.start({
        onBytes: (bytes) => {
          received += bytes.length;
        },
        onDrain: () => {},
        onClosed: () => tell('accepted'),
      });
      dialed.start({ onBytes: () => {}, onDrain: () => {}, onClosed: () => tell('dialed') });
    });
    dialed.write([new Uint8Array(500_000), new Uint8Array(10)]);
    dialed.end();
    await gone;
    dialed.destroy();
    accepted.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([received, told.length], [500_010, 2]);
  });

  suite('destroy closes both sides, and writing after it is harmless (T2)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    const closes = [dialed, accepted].map(
      (end) =>
        new Promise((resolve) => end.start({ onBytes: () => {}, onDrain: () => {}, onClosed: resolve })),
    );
    dialed.destroy();
    assert.equal(dialed.write([Uint8Array.of(1)]), false);
    assert.equal(typeof (await Promise.all(closes))[0], 'string');
  });

  suite('pause holds back what arrives (T3)', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    let received = 0;
    accepted.start({
      onBytes: (bytes) => {
        received += bytes.length;
      },
      onDrain: () => {},
      onClosed: () => {},
    });
    dialed.start({ onBytes: () => {}, onDrain: () => {}, onClosed: () => {} });
    accepted.pause();
    dialed.write([new Uint8Array(100)]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const whilePaused = received;
    accepted.resume();
    await until(() => received === 100, 'the bytes came after resume');
    assert.ok(whilePaused === 0 || whilePaused === 100, 'at most one call after pause');
  });

  suite('both ends have the same channel binding', async (t) => {
    const [dialed, accepted] = await openPair(t, subject);
    assert.deepEqual(Buffer.from(dialed.channelBinding), Buffer.from(accepted.channelBinding));
    assert.equal(dialed.channelBinding.length, 32);
    assert.equal(
      dialed.channelBinding.some((byte) => byte !== 0),
      subject.bound,
    );
  });
}

/** Bytes that count up to 250, again and again. */
const pattern = Uint8Array.from({ length: 251 * 1000 }, (_, at) => at % 251);

function isPattern(bytes: Uint8Array, offset: number): boolean {
  for (let at = 0; at < bytes.length; ) {
    const phase = (offset + at) % 251;
    const size = Math.min(bytes.length - at, pattern.length - phase);
    if (Buffer.compare(bytes.subarray(at, at + size), pattern.subarray(phase, phase + size)) !== 0)
      return false;
    at += size;
  }
  return true;
}

/** Sends `size` bytes of the pattern, waiting for drains; says whether they arrived so. */
function flow(from: Transport, to: Transport, size: number): Promise<{ inOrder: boolean; refusals: number }> {
  return new Promise((resolve) => {
    let sent = 0;
    let received = 0;
    let inOrder = true;
    let refusals = 0;
    const push = (): void => {
      for (let room = true; room && sent < size; ) {
        const chunk = pattern.slice(sent % 251, (sent % 251) + 50_000);
        sent += chunk.length;
        room = from.write([chunk.subarray(0, 20_000), chunk.subarray(20_000)]);
        if (!room) refusals++;
      }
    };
    starters(from).onDrain = push;
    starters(to).onBytes = (bytes) => {
      inOrder &&= isPattern(bytes, received);
      received += bytes.length;
      if (received === size) resolve({ inOrder, refusals });
    };
    push();
  });
}

interface Starter {
  onDrain: () => void;
  onBytes: (bytes: Uint8Array) => void;
}

const started = new WeakMap<Transport, Starter>();

/** A transport can be started once; two flows share it. */
function starters(transport: Transport): Starter {
  const known = started.get(transport);
  if (known !== undefined) return known;
  const starter: Starter = { onDrain: () => {}, onBytes: () => {} };
  started.set(transport, starter);
  transport.start({
    onBytes: (bytes) => starter.onBytes(bytes),
    onDrain: () => starter.onDrain(),
    onClosed: () => {},
  });
  return starter;
}

function lifeContract(suite: Suite, subject: ContractSubject): void {
  suite('two sides prove themselves and know each other', async (t) => {
    const { host, near, far } = await openLinked(t, subject);
    assert.equal(near.link.peer.name, 'gpu-1');
    assert.equal(far.link.peer.name, 'lab');
    assert.equal(near.link.peer.epoch, 1);
    assert.equal(far.link.peer.epoch, 1);
    assert.equal(host.admitted[0]?.token, 'secret-token');
    await until(
      () => (near.link.roundTripUs ?? 0) > 0 && (far.link.roundTripUs ?? 0) > 0,
      'both know the round trip',
    );
  });

  suite('messages arrive in order, both ways (L6)', async (t) => {
    const { near, far } = await openLinked(t, subject);
    const seqs = Array.from({ length: 2000 }, (_, at) => at + 1);
    for (const seq of seqs) {
      near.link.send(ack(seq));
      far.link.send(ack(seq));
    }
    await until(() => near.messages.length === 2000 && far.messages.length === 2000, 'all arrived');
    assert.deepEqual(seqsOf(near.messages), seqs);
    assert.deepEqual(seqsOf(far.messages), seqs);
  });

  suite('a control frame overtakes data that waits, and onDrain tells when the data has left (L6)', async (t) => {
    const { near, far } = await openLinked(t, subject);
    for (let at = 0; at < 300; at++) far.link.send(body(at));
    assert.ok(far.link.unsentBytes > 300 * 60_000);
    await new Promise((resolve) => setImmediate(resolve));
    far.link.send(ack(1));
    await until(() => near.messages.length === 301, 'all arrived');
    const place = near.messages.findIndex((message) => message.case === 'runAck');
    assert.ok(place < 300, `the control frame came at place ${place} of 300`);
    const offsets = near.messages.flatMap((message) =>
      message.case === 'runBody' ? message.value.offset : [],
    );
    assert.deepEqual(
      offsets,
      [...offsets].sort((a, b) => a - b),
    );
    await until(() => far.drains > 0, 'onDrain was called');
    assert.equal(far.link.unsentBytes, 0);
  });

  suite('Goodbye comes after everything that was sent before it, with its delay', async (t) => {
    const { near, far } = await openLinked(t, subject);
    for (let at = 0; at < 50; at++) near.link.send(body(at));
    near.link.close('restart', 1500);
    near.link.send(ack(9));
    assert.deepEqual(await far.closed, { kind: 'goodbye', reason: 'restart', reconnectAfterMs: 1500 });
    assert.deepEqual(await near.closed, { kind: 'closed-here', reason: 'restart' });
    assert.equal(far.messages.length, 50);
  });

  suite('destroy ends this side at once and the other as lost (L10)', async (t) => {
    const { near, far } = await openLinked(t, subject);
    near.link.destroy('revoked');
    assert.deepEqual(near.outcome, { kind: 'closed-here', reason: 'revoked' });
    near.link.send(ack(1));
    near.link.close('again');
    assert.equal((await far.closed).kind, 'lost');
  });

  suite('a handler that throws ends its link and no other (L10)', async (t) => {
    const { near, far, host } = await openLinked(t, subject);
    host.onMessage = () => {
      throw new Error('a bug');
    };
    far.link.send(ack(1));
    const outcome = await near.closed;
    assert.ok(
      outcome.kind === 'protocol-error' && outcome.reason === 'a bug' && outcome.cause instanceof Error,
    );
    const told = await far.closed;
    assert.ok(told.kind === 'protocol-error' && told.reason === 'internal error', JSON.stringify(told));
  });

  suite('what the server sends right after Welcome is not lost', async (t) => {
    const host = createTestAcceptor({
      onLink: (link) => {
        for (let seq = 1; seq <= 5; seq++) link.send(ack(seq));
        return { onMessage: () => {}, onClosed: () => {} };
      },
    });
    const world = await openWorld(t, subject, host.identity);
    world.onTransport = (transport) => host.acceptor.accept(transport);
    const options = testDial({ dial: world.dial, pins: [host.pin] });
    await attemptLink(options, never);
    await until(() => options.seen[0]?.messages.length === 5, 'all five arrived');
    host.acceptor.close('over', 0);
  });
}

function abuseContract(suite: Suite, subject: ContractSubject): void {
  suite('with a wrong pin the peer sees Hello and no Proof, no token (L1)', async (t) => {
    const host = createTestAcceptor();
    const world = await openWorld(t, subject, host.identity);
    const seen: Buffer[] = [];
    world.onTransport = (transport) => host.acceptor.accept(recordBytes(transport, seen));
    let tokenAsked = 0;
    const options = testDial({
      dial: world.dial,
      pins: [nodeCrypto.pinOf(newIdentity().publicKey)],
      token: () => {
        tokenAsked++;
        return 'secret-token';
      },
    });
    const outcome = await attemptLink(options, never);
    assert.ok(outcome.kind === 'failed' && outcome.code === 'identity.pin-mismatch', JSON.stringify(outcome));
    await until(() => host.rejections.length === 1, 'the server noticed');
    assert.deepEqual([tokenAsked, host.admitted.length, host.links.length], [0, 0, 0]);
    assert.equal(Buffer.concat(seen).includes('secret-token'), false);
  });

  suite('a forged proof is refused and its token never looked at (L2)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    peer.send(peer.hello());
    await peer.next('challenge');
    peer.send(peer.forgedProof('stolen'));
    const { value } = await peer.next('reject');
    assert.equal(value.code, 'identity.bad-signature');
    assert.equal(host.admitted.length, 0);
    await peer.closed;
  });

  suite('a recorded proof is worth nothing in another handshake (L2)', async (t) => {
    const { peer, host } = await openFake(t, subject, 'secret-token');
    const hello = peer.hello();
    peer.send(hello);
    const proof = await peer.prove(await peer.next('challenge'));
    peer.transport.destroy();
    await peer.closed;
    const world = await openWorld(t, subject, host.identity);
    world.onTransport = (transport) => host.acceptor.accept(transport);
    const thief = new FakePeer(await world.dial(never), {
      identity: newIdentity(),
      hello: testHello(),
      pins: [host.pin],
    });
    thief.send(hello);
    await thief.next('challenge');
    thief.send(proof);
    assert.equal((await thief.next('reject')).value.code, 'identity.bad-signature');
    assert.equal(host.admitted.length, 0);
  });

  const badHellos: [string, Partial<Hello>, string][] = [
    ['another protocol', { protocolVersion: 0 }, 'protocol.version'],
    ['no role', { role: 0 as never }, 'protocol.bad-hello'],
    ['a name with a slash', { identity: '../x' }, 'protocol.bad-hello'],
    ['a short key', { publicKey: new Uint8Array(31) }, 'protocol.bad-hello'],
    ['no instance', { instance: new Uint8Array() }, 'protocol.bad-hello'],
  ];
  for (const [what, change, code] of badHellos) {
    suite(`a Hello with ${what} is refused with ${code}`, async (t) => {
      const { peer, host } = await openFake(t, subject);
      peer.send(peer.hello(change));
      assert.equal((await peer.next('reject')).value.code, code);
      await peer.closed;
      assert.equal(host.rejections[0]?.code, code);
    });
  }

  suite('a frame between Proof and Welcome ends the handshake (L4)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    let admit: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const decide = host.decide;
    host.decide = async (proven) => {
      await gate;
      return decide(proven);
    };
    peer.send(peer.hello());
    peer.send(await peer.prove(await peer.next('challenge')), ack(1));
    assert.equal((await peer.next('reject')).value.code, 'protocol.unexpected-message');
    admit();
    await peer.closed;
    assert.equal(host.links.length, 0);
  });

  suite('an unknown message is answered and the link goes on; very many of them end it (L9)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    await peer.enter();
    const unknown = Uint8Array.of(0xa2, 0x1f, 0x00); // field 500, empty
    peer.sendFrame(unknown);
    const { value } = await peer.next('protocolError');
    assert.deepEqual([value.code, value.fatal], ['protocol.unknown-message', false]);
    peer.send(ack(1));
    await until(() => host.links[0]?.messages.length === 1, 'the link went on');
    for (let count = 0; count < 200; count++) peer.sendFrame(unknown);
    const outcome = await host.links[0]?.closed;
    assert.equal(outcome?.kind, 'protocol-error');
  });

  const poison: [string, (peer: FakePeer) => void, string][] = [
    ['a length of 4 GiB', (peer) => peer.sendFrame(new Uint8Array(), 0xffffffff), 'wire.frame-too-large'],
    ['a length of 0', (peer) => peer.sendFrame(new Uint8Array()), 'wire.empty-frame'],
    ['a broken varint', (peer) => peer.sendFrame(new Uint8Array(12).fill(0xff)), 'wire.malformed'],
    ['a second Hello', (peer) => peer.send(peer.hello()), 'protocol.unexpected-message'],
  ];
  for (const [what, act, code] of poison) {
    suite(`${what} ends the link with ${code}, is told so, and another link does not notice (L5, L9)`, async (t) => {
      const { host, peer } = await openFake(t, subject);
      const world = await openWorld(t, subject, host.identity);
      world.onTransport = (transport) => host.acceptor.accept(transport);
      const other = testDial({
        dial: world.dial,
        pins: [host.pin],
        hello: () => testHello({ name: 'other' }),
      });
      assert.equal((await attemptLink(other, never)).kind, 'linked');
      await peer.enter();
      await until(() => host.links.length === 2, 'both are live');
      act(peer);
      const { value } = await peer.next('protocolError');
      assert.deepEqual([value.code, value.fatal], [code, true]);
      await peer.closed;
      const outcome = await host.links[1]?.closed;
      assert.ok(outcome?.kind === 'protocol-error' && outcome.code === code, JSON.stringify(outcome));
      other.seen[0]?.link.send(ack(1));
      await until(() => host.links[0]?.messages.length === 1, 'the other link works');
    });
  }

  suite('a flood of tiny frames is answered within bounds and harms nobody (F16)', async (t) => {
    const { host, peer } = await openFake(t, subject);
    await peer.enter();
    const pings = Buffer.concat(Array.from({ length: 20_000 }, () => pingFrame));
    peer.sendBytes(pings);
    await until(
      () => peer.received.filter((message) => message.case === 'pong').length >= 20_000,
      'all were answered',
    );
    peer.send(ack(7));
    await until(() => host.links[0]?.messages.length === 1, 'the link still works');
  });
}

const pingFrame = Buffer.from([0, 0, 0, 4, 0x52, 0x02, 0x08, 0x05]);

/** The same transport, remembering what arrived. */
function recordBytes(transport: Transport, seen: Buffer[]): Transport {
  return new Proxy(transport, {
    get(target, name) {
      if (name === 'start') {
        return (handlers: Parameters<Transport['start']>[0]) =>
          target.start({
            ...handlers,
            onBytes: (bytes) => {
              seen.push(Buffer.from(bytes));
              handlers.onBytes(bytes);
            },
          });
      }
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
