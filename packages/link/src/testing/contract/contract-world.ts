import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { create, RunAckSchema, RunBodySchema, type WireMessage } from '@iop/wire';
import { attemptLink } from '../../attempt.ts';
import type { Identity } from '../../identity.ts';
import type { Dial, Transport } from '../../transport.ts';
import { FakePeer } from '../fake-peer.ts';
import {
  createTestAcceptor,
  newIdentity,
  type SeenLink,
  type TestAcceptor,
  testDial,
  testHello,
  until,
} from '../link-host.ts';

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

export interface Linked {
  world: ContractWorld;
  host: TestAcceptor;
  /** The accepting side. */
  near: SeenLink;
  /** The dialing side. */
  far: SeenLink;
}

export const never: AbortSignal = new AbortController().signal;
export type Suite = (title: string, run: (t: TestContext) => Promise<void>) => void;

/** Closed at the end of the test, with every transport that was dialed. */
export async function openWorld(
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

export async function openPair(t: TestContext, subject: ContractSubject): Promise<[Transport, Transport]> {
  const world = await openWorld(t, subject);
  const accepted = new Promise<Transport>((resolve) => {
    world.onTransport = resolve;
  });
  const dialed = await world.dial(never);
  return [dialed, await accepted];
}

export async function openLinked(t: TestContext, subject: ContractSubject): Promise<Linked> {
  const host = createTestAcceptor();
  const world = await openWorld(t, subject, host.identity);
  world.onTransport = (transport) => host.acceptor.accept(transport);
  const options = testDial({ dial: world.dial, pins: [host.pin] });
  const outcome = await attemptLink(options, never);
  assert.equal(outcome.kind, 'linked', JSON.stringify(outcome));
  await until(() => host.links.length === 1, 'the link went live');
  return { world, host, near: host.links[0] as SeenLink, far: options.seen[0] as SeenLink };
}

export async function openFake(
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

export function ack(seq: number): WireMessage {
  return { case: 'runAck', value: create(RunAckSchema, { entries: [{ runId: 'r', attempt: 1, seq }] }) };
}

export function body(offset: number, sizeBytes = 60_000): WireMessage {
  return {
    case: 'runBody',
    value: create(RunBodySchema, { runId: 'r', attempt: 1, offset, data: new Uint8Array(sizeBytes) }),
  };
}

export const seqsOf = (messages: readonly WireMessage[]): number[] =>
  messages.flatMap((message) =>
    message.case === 'runAck' ? message.value.entries.map((entry) => entry.seq) : [],
  );
