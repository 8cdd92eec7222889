import type { Admission, Link, LinkMessage, LinkOutcome, ProvenPeer } from '@iop/link';
import { createAcceptor } from '@iop/link';
import { createIdentityPem, listenTcp, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createTestClock } from '@iop/link/testing';
import {
  create,
  NodeConfigPayloadSchema,
  type RunEvent,
  RunRequestSchema,
  type RunResumeEntry,
  RunResumeEntrySchema,
  RunResumeSchema,
} from '@iop/wire';

type MessageOf<Case extends LinkMessage['case']> = Extract<LinkMessage, { case: Case }>['value'];

/** One link that a Node has made to the fake. */
export interface FakeLink {
  readonly link: Link;
  readonly peer: ProvenPeer;
  readonly messages: readonly LinkMessage[];
  readonly closed: Promise<LinkOutcome>;
  send(message: LinkMessage): void;
  /** The first message of this kind that `fits`, already there or still to come. */
  next<Case extends LinkMessage['case']>(
    kind: Case,
    fits?: (value: MessageOf<Case>) => boolean,
  ): Promise<MessageOf<Case>>;
  /** All events of a run that came over this link, in order. */
  eventsOf(runId: string): readonly RunEvent[];
}

export interface FakeEdge {
  readonly port: number;
  readonly pin: string;
  readonly links: readonly FakeLink[];
  /** The n-th link, from 0, already there or still to come. */
  link(n: number): Promise<FakeLink>;
  /** From now on new links wait in their handshake, until what it returns is called. */
  holdNewLinks(): () => void;
  close(): Promise<void>;
}

/** An Edge as far as a Node can tell, over a real socket: the test says every word of it. */
export async function startFakeEdge(
  options: { tls?: boolean; admit?: (peer: ProvenPeer) => Admission; port?: number } = {},
): Promise<FakeEdge> {
  const identity = loadIdentity(createIdentityPem());
  const links: FakeLink[] = [];
  const changed = new Set<() => void>();
  let epoch = 0;
  let gate = Promise.resolve();
  let closing: Promise<void> | undefined;
  const acceptor = createAcceptor({
    identity,
    name: 'fake-edge',
    serverInstance: nodeCrypto.randomBytes(16),
    crypto: nodeCrypto,
    clock: createTestClock(),
    admit: async (peer) => {
      await gate;
      const welcome = { kind: 'welcome' as const, epoch: ++epoch, heartbeatIntervalMs: 10_000, fleetSize: 1 };
      return options.admit?.(peer) ?? welcome;
    },
    onLink: (link, peer) => {
      const { fake, handlers } = createFakeLink(link, peer);
      links.push(fake);
      for (const listener of changed) listener();
      return handlers;
    },
  });
  const listener = await listenTcp({
    host: '127.0.0.1',
    port: options.port ?? 0,
    tls: options.tls ?? false,
    identity,
    onTransport: (transport) => acceptor.accept(transport),
  });
  const closeAll = async () => {
    acceptor.close('the fake ends', 0);
    for (const { link } of links) link.destroy('the fake ends');
    await listener.close();
  };
  return {
    port: listener.address.port,
    pin: nodeCrypto.pinOf(identity.publicKey),
    links,
    link: (n) => eventually(changed, () => links[n], `link ${n}`),
    holdNewLinks: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    close: async () => {
      closing ??= closeAll();
      await closing;
    },
  };
}

function createFakeLink(link: Link, peer: ProvenPeer) {
  const messages: LinkMessage[] = [];
  const changed = new Set<() => void>();
  const closed = Promise.withResolvers<LinkOutcome>();
  const fake: FakeLink = {
    link,
    peer,
    messages,
    closed: closed.promise,
    send: (message) => link.send(message),
    next: (kind, fits = () => true) => {
      const find = () =>
        messages.find((message) => message.case === kind && fits(message.value as never))?.value as never;
      return eventually(changed, find, kind);
    },
    eventsOf: (runId) =>
      messages.flatMap((message) =>
        message.case === 'runEvents' && message.value.runId === runId ? message.value.events : [],
      ),
  };
  const handlers = {
    onMessage: (message: LinkMessage) => {
      messages.push(message);
      for (const listener of changed) listener();
    },
    onClosed: (outcome: LinkOutcome) => closed.resolve(outcome),
  };
  return { fake, handlers };
}

/** What `find` gives as soon as it gives something. */
function eventually<T>(changed: Set<() => void>, find: () => T | undefined, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      changed.delete(look);
      reject(new Error(`not within 40 s: ${what}`));
    }, 40_000);
    const look = () => {
      const found = find();
      if (found === undefined) return;
      clearTimeout(timer);
      changed.delete(look);
      resolve(found);
    };
    changed.add(look);
    look();
  });
}

/** A configuration with one mock adapter called mock. */
export function mockConfig(
  revision = 1,
  limits: { stallAfterMs?: number; orphanAfterMs?: number; detachedOrphanAfterMs?: number } = {},
): LinkMessage {
  const adapters = [{ name: 'mock', kind: { case: 'mock' as const, value: {} } }];
  return {
    case: 'nodeConfigPayload',
    value: create(NodeConfigPayloadSchema, { revision, adapters, limits }),
  };
}

export function wireRequest(
  runId: string,
  values: {
    prompt?: string;
    attempt?: number;
    /** 2: detached. */
    runClass?: 1 | 2;
    eventCredit?: number;
    stream?: boolean;
    adapter?: string;
    target?: string;
  } = {},
): LinkMessage {
  const { prompt = 'hello there', ...rest } = values;
  const body = Buffer.from(JSON.stringify({ model: 'x', messages: [{ role: 'user', content: prompt }] }));
  const value = create(RunRequestSchema, {
    runId,
    attempt: 1,
    runClass: 1,
    adapter: 'mock',
    target: 'echo',
    dialect: 'openai.chat',
    stream: true,
    body,
    bodySize: body.length,
    eventCredit: 256 * 1024,
    ...rest,
  });
  return { case: 'runRequest', value };
}

export function resume(...entries: Partial<RunResumeEntry>[]): LinkMessage {
  const value = create(RunResumeSchema, {
    entries: entries.map((entry) => create(RunResumeEntrySchema, entry as object)),
  });
  return { case: 'runResume', value };
}

/** A configuration with one adapter called cli that has one target. */
export function cliConfig(target: string, profile: object): LinkMessage {
  const targets = [{ name: target, cliProfileJson: JSON.stringify(profile) }];
  const adapters = [{ name: 'cli', targets, kind: { case: 'cli' as const, value: {} } }];
  return { case: 'nodeConfigPayload', value: create(NodeConfigPayloadSchema, { revision: 1, adapters }) };
}
