import { Role, type WireMessage } from '@iop/wire';
import { type Acceptor, type AcceptorOptions, createAcceptor } from '../acceptor.ts';
import type { DialOptions } from '../attempt.ts';
import type { HelloInfo } from '../handshake/dialer-handshake.ts';
import type { Identity } from '../identity.ts';
import type { Rejection } from '../incoming-handshake.ts';
import type { Admission, Link, LinkOutcome, ProvenPeer } from '../link.ts';
import { createIdentityPem, loadIdentity, nodeCrypto } from '../tcp/identity.ts';
import type { Dial } from '../transport.ts';
import { createTestClock } from './system-clock.ts';

/** One end of a link as a test sees it. */
export interface SeenLink {
  link: Link;
  messages: WireMessage[];
  drains: number;
  outcome: LinkOutcome | undefined;
  closed: Promise<LinkOutcome>;
}

export function newIdentity(): Identity {
  return loadIdentity(createIdentityPem());
}

/** Handlers that remember everything. */
export function watchLink(link: Link, onMessage: (message: WireMessage, link: Link) => void = () => {}) {
  const seen: SeenLink = {
    link,
    messages: [],
    drains: 0,
    outcome: undefined,
    closed: Promise.resolve({ kind: 'lost', reason: '' }),
  };
  let resolve: (outcome: LinkOutcome) => void = () => {};
  seen.closed = new Promise((settle) => {
    resolve = settle;
  });
  const handlers = {
    onMessage: (message: WireMessage) => {
      seen.messages.push(message);
      onMessage(message, link);
    },
    onDrain: () => {
      seen.drains++;
    },
    onClosed: (outcome: LinkOutcome) => {
      if (seen.outcome !== undefined) throw new Error('onClosed was called twice');
      seen.outcome = outcome;
      resolve(outcome);
    },
  };
  return { seen, handlers };
}

export interface TestAcceptor {
  acceptor: Acceptor;
  identity: Identity;
  pin: string;
  /** Every link that went live, in order. */
  links: SeenLink[];
  rejections: Rejection[];
  admitted: ProvenPeer[];
  /** What `admit` says from now on; by default everybody is welcome, with epochs counted by name. */
  decide: (peer: ProvenPeer) => Admission | Promise<Admission>;
  onMessage: (message: WireMessage, link: Link) => void;
}

/** An acceptor that remembers what happened to it. */
export function createTestAcceptor(change: Partial<AcceptorOptions> = {}): TestAcceptor {
  const identity = change.identity ?? newIdentity();
  const crypto = change.crypto ?? nodeCrypto;
  const epochs = new Map<string, number>();
  const test: TestAcceptor = {
    identity,
    pin: crypto.pinOf(identity.publicKey),
    links: [],
    rejections: [],
    admitted: [],
    onMessage: () => {},
    decide: ({ hello }) => {
      const epoch = Math.max(epochs.get(hello.identity) ?? 0, hello.lastEpoch) + 1;
      epochs.set(hello.identity, epoch);
      return { kind: 'welcome', epoch, heartbeatIntervalMs: 10_000, fleetSize: 1 };
    },
    acceptor: createAcceptor({
      identity,
      name: 'lab',
      serverInstance: nodeCrypto.randomBytes(16),
      crypto,
      clock: createTestClock(),
      admit: async (peer) => {
        test.admitted.push(peer);
        return test.decide(peer);
      },
      onLink: (link) => {
        const { seen, handlers } = watchLink(link, (message, on) => test.onMessage(message, on));
        test.links.push(seen);
        return handlers;
      },
      onRejected: (rejection) => test.rejections.push(rejection),
      ...change,
    }),
  };
  return test;
}

export function testHello(change: Partial<HelloInfo> = {}): HelloInfo {
  return {
    role: Role.NODE,
    name: 'gpu-1',
    instance: nodeCrypto.randomBytes(16),
    lastEpoch: 0,
    build: 'test',
    ...change,
  };
}

export interface TestDialOptions extends Partial<DialOptions> {
  dial: Dial;
  pins: readonly string[];
}

/** Everything that a dialing side needs, with a fresh identity and a token. */
export function testDial(options: TestDialOptions): DialOptions & { seen: SeenLink[] } {
  const hello = testHello();
  const seen: SeenLink[] = [];
  return {
    hello: () => hello,
    identity: options.identity ?? newIdentity(),
    token: () => 'secret-token',
    crypto: nodeCrypto,
    clock: createTestClock(),
    onLink: (link) => {
      const watched = watchLink(link);
      seen.push(watched.seen);
      return watched.handlers;
    },
    ...options,
    seen,
  };
}

/** Resolves once `holds` is true; rejects, saying what, after a generous time. */
export async function until(holds: () => boolean, what: string, timeoutMs = 10_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (let turns = 0; !holds(); turns++) {
    if (performance.now() > deadlineMs) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => (turns < 100 ? setImmediate(resolve) : setTimeout(resolve, 2)));
  }
}
