import type { TestContext } from 'node:test';
import { createIdentityPem, dialTcp, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createTestClock } from '@iop/link/testing';
import {
  CancelRequestSchema,
  create,
  type EndEvent,
  encodeMessage,
  RunAckSchema,
  RunCreditSchema,
  type RunEvent,
  RunEventsSchema,
} from '@iop/wire';
import { createNode } from '../core/node.ts';
import { createEdgeLink } from '../inbound/edge-link/edge-link.ts';
import { createMockFactory } from '../outbound/adapters/mock/mock-factory.ts';
import { createVllmFactory } from '../outbound/adapters/vllm/vllm-factory.ts';
import type { EndStore } from '../ports/end-store.ts';
import type { Log } from '../ports/log.ts';
import type { RunStore } from '../ports/run-store.ts';
import { type FakeEdge, type FakeLink, mockConfig, resume } from './fake-edge.ts';
import { createMemoryEndStore } from './memory-end-store.ts';
import { createMemoryRunStore } from './memory-run-store.ts';
import { allowAll, silentLog } from './node-fixture.ts';

/** A Node on a real link to a fake Edge. What is given to it outlives it. */
export async function startLinkedNode(
  test: TestContext,
  edge: FakeEdge,
  given: { store?: RunStore; ends?: EndStore; log?: Log } = {},
) {
  const { store = createMemoryRunStore(), ends = createMemoryEndStore(), log = silentLog } = given;
  const clock = createTestClock();
  const factories = new Map([
    ['mock', createMockFactory({ clock })],
    ['vllm', createVllmFactory({ clock })],
  ]);
  const node = createNode({ clock, log, store, factories, allow: allowAll, maxBodyBytes: 1_000_000 });
  const edgeLink = createEdgeLink({
    node,
    log,
    clock,
    ends,
    epochs: { lastEpoch: 0, rememberEpoch() {} },
    self: { name: 'node-1', instance: nodeCrypto.randomBytes(16), build: 'test', labels: {} },
    dial: dialTcp({ host: '127.0.0.1', port: edge.port, tls: false, pins: [] }),
    pins: [edge.pin],
    identity: loadIdentity(createIdentityPem()),
    crypto: nodeCrypto,
    token: () => 'token',
    random: () => 0,
    capabilityIntervalMs: 100,
  });
  const stop = new AbortController();
  const over = edgeLink.run(stop.signal);
  /** As SIGTERM does it. */
  const shutdown = async (limits = { graceMs: 0, stopMs: 100, handOverMs: 0 }) => {
    await node.shutdown(limits);
    await edgeLink.settled(limits.handOverMs);
    stop.abort();
    await over;
  };
  test.after(async () => {
    stop.abort();
    await over;
    await node.shutdown({ graceMs: 0, stopMs: 100 });
    await edge.close();
  });
  return { node, edgeLink, stop, over, shutdown };
}

/** The link after inventory, resume and configuration. */
export async function readyLink(edge: FakeEdge, n = 0): Promise<FakeLink> {
  const link = await edge.link(n);
  await link.next('runInventory');
  link.send(resume());
  link.send(mockConfig());
  await link.next('edgeNodeEvent', ({ event }) => event.case === 'capabilitiesChanged');
  return link;
}

export function endOf(link: FakeLink, runId: string): EndEvent | undefined {
  const last = link.eventsOf(runId).at(-1);
  return last?.kind.case === 'end' ? last.kind.value : undefined;
}

export async function ended(link: FakeLink, runId: string): Promise<EndEvent> {
  await link.next('runEvents', (batch) => batch.runId === runId && batch.events.at(-1)?.kind.case === 'end');
  return endOf(link, runId) as EndEvent;
}

export function textOf(link: FakeLink, runId: string): string {
  const parts = link
    .eventsOf(runId)
    .map(({ kind }) => (kind.case === 'raw' ? Buffer.from(kind.value.data) : Buffer.alloc(0)));
  return Buffer.concat(parts).toString();
}

/** To compare by: what a link delivers is sometimes a view, sometimes a copy. */
export function encoded(events: readonly RunEvent[]): string {
  const batch = create(RunEventsSchema, { events: [...events] });
  return Buffer.from(encodeMessage({ case: 'runEvents', value: batch })).toString('latin1');
}

export const credit = (runId: string, bytes: number) =>
  ({
    case: 'runCredit',
    value: create(RunCreditSchema, { entries: [{ runId, attempt: 1, bytes }] }),
  }) as const;

export const ack = (runId: string, seq: number) =>
  ({ case: 'runAck', value: create(RunAckSchema, { entries: [{ runId, attempt: 1, seq }] }) }) as const;

export const cancel = (runId: string) =>
  ({ case: 'cancelRequest', value: create(CancelRequestSchema, { runId, by: 'caller' }) }) as const;
