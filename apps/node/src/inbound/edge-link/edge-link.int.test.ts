import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createIdentityPem, dialTcp, loadIdentity, nodeCrypto } from '@iop/link/tcp';
import { createTestClock } from '@iop/link/testing';
import {
  CancelRequestSchema,
  create,
  type EndEvent,
  NodeCommandRequestSchema,
  NodeConfigPayloadSchema,
  RunAckSchema,
  RunBodySchema,
  RunCreditSchema,
  RunState,
} from '@iop/wire';
import { createNode } from '../../core/node.ts';
import { createMockFactory } from '../../outbound/adapters/mock/mock-factory.ts';
import { createVllmFactory } from '../../outbound/adapters/vllm/vllm-factory.ts';
import {
  type FakeEdge,
  type FakeLink,
  mockConfig,
  resume,
  startFakeEdge,
  wireRequest,
} from '../../testing/fake-edge.ts';
import { createMemoryEndStore } from '../../testing/memory-end-store.ts';
import { createMemoryRunStore } from '../../testing/memory-run-store.ts';
import { allowAll, silentLog } from '../../testing/node-fixture.ts';
import { answerStatus, startScriptedUpstream } from '../../testing/scripted-upstream.ts';
import { acceptWithinMs } from './accept-notes.ts';
import { createEdgeLink } from './edge-link.ts';

/** A Node on a real link to a fake Edge. */
async function startNode(test: TestContext, edge: FakeEdge) {
  const clock = createTestClock();
  const factories = new Map([
    ['mock', createMockFactory({ clock })],
    ['vllm', createVllmFactory({ clock })],
  ]);
  const store = createMemoryRunStore();
  const node = createNode({
    clock,
    log: silentLog,
    store,
    factories,
    allow: allowAll,
    maxBodyBytes: 1_000_000,
  });
  const identity = loadIdentity(createIdentityPem());
  const edgeLink = createEdgeLink({
    node,
    log: silentLog,
    clock,
    epochs: { lastEpoch: 0, rememberEpoch() {} },
    ends: createMemoryEndStore(),
    self: { name: 'node-1', instance: nodeCrypto.randomBytes(16), build: 'test', labels: {} },
    dial: dialTcp({ host: '127.0.0.1', port: edge.port, tls: false, pins: [] }),
    pins: [edge.pin],
    identity,
    crypto: nodeCrypto,
    token: () => 'token',
    random: () => 0,
    capabilityIntervalMs: 100,
  });
  const stop = new AbortController();
  const over = edgeLink.run(stop.signal);
  test.after(async () => {
    stop.abort();
    await over;
    await node.shutdown({ graceMs: 0, stopMs: 100 });
    await edge.close();
  });
  return { node, edgeLink, stop, over };
}

/** The link after inventory, resume and configuration. */
async function ready(edge: FakeEdge, n = 0): Promise<FakeLink> {
  const link = await edge.link(n);
  await link.next('runInventory');
  link.send(resume());
  link.send(mockConfig());
  await link.next('edgeNodeEvent', ({ event }) => event.case === 'capabilitiesChanged');
  return link;
}

function endOf(link: FakeLink, runId: string): EndEvent | undefined {
  const last = link.eventsOf(runId).at(-1);
  return last?.kind.case === 'end' ? last.kind.value : undefined;
}

async function ended(link: FakeLink, runId: string): Promise<EndEvent> {
  await link.next('runEvents', (batch) => batch.runId === runId && batch.events.at(-1)?.kind.case === 'end');
  return endOf(link, runId) as EndEvent;
}

function textOf(link: FakeLink, runId: string): string {
  const parts = link
    .eventsOf(runId)
    .map(({ kind }) => (kind.case === 'raw' ? Buffer.from(kind.value.data) : Buffer.alloc(0)));
  return Buffer.concat(parts).toString();
}

const credit = (runId: string, bytes: number) =>
  ({
    case: 'runCredit',
    value: create(RunCreditSchema, { entries: [{ runId, attempt: 1, bytes }] }),
  }) as const;
const ack = (runId: string, seq: number) =>
  ({ case: 'runAck', value: create(RunAckSchema, { entries: [{ runId, attempt: 1, seq }] }) }) as const;
const cancel = (runId: string) =>
  ({ case: 'cancelRequest', value: create(CancelRequestSchema, { runId, by: 'caller' }) }) as const;

describe('edge link', () => {
  it('E1: sends an inventory first, then tells what the configured adapters can do', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await edge.link(0);
    const inventory = await link.next('runInventory');
    assert.equal(link.messages[0]?.case, 'runInventory');
    assert.deepEqual(inventory.entries, []);
    link.send(resume());
    link.send(mockConfig(7));
    const result = await link.next('nodeConfigResult');
    assert.deepEqual([result.revision, result.accepted, result.problems], [7, true, []]);
    const { event } = await link.next('edgeNodeEvent');
    assert.equal(event.case, 'capabilitiesChanged');
    const adapters = event.case === 'capabilitiesChanged' ? event.value.adapters : [];
    assert.deepEqual(
      adapters.map(({ name, kind, healthy, targets }) => [
        name,
        kind,
        healthy,
        targets.map((target) => target.name),
      ]),
      [['mock', 'mock', true, ['echo']]],
    );
  });

  it('E2: tells how busy an upstream is, apart from what it can do', async (test) => {
    const upstream = await startScriptedUpstream({ model: () => {} });
    test.after(() => upstream.close());
    const busy = (running: number) => `vllm:num_requests_running{engine="0"} ${running}.0\n`;
    upstream.metrics = answerStatus(200, busy(3), { 'content-type': 'text/plain' });
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await edge.link(0);
    link.send(resume());
    const value = { baseUrl: upstream.baseUrl };
    const adapters = [{ name: 'big', kind: { case: 'vllm' as const, value } }];
    link.send({
      case: 'nodeConfigPayload',
      value: create(NodeConfigPayloadSchema, { revision: 1, adapters }),
    });
    const loadOf = (running: number) =>
      link.next(
        'edgeNodeEvent',
        ({ event }) => event.case === 'loadChanged' && event.value.adapters[0]?.running === running,
      );
    await loadOf(3);
    upstream.metrics = answerStatus(200, busy(4));
    const { event } = await loadOf(4);
    const [load] = event.case === 'loadChanged' ? event.value.adapters : [];
    assert.deepEqual([load?.adapter, load?.waiting, load?.cacheUse], ['big', 0, undefined]);
    const told = link.messages.filter(
      (message) => message.case === 'edgeNodeEvent' && message.value.event.case === 'capabilitiesChanged',
    );
    assert.equal(told.length, 1);
  });

  it('runs a request: events and one end, which say by themselves that it was taken', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send(wireRequest('r1'));
    const end = await ended(link, 'r1');
    assert.equal(end.end.case, 'completed');
    assert.equal(end.usage?.promptTokens, 2);
    assert.match(textOf(link, 'r1'), /"content":"hello"/);
    await sleep(2 * acceptWithinMs);
    assert.equal(
      link.messages.some((message) => message.case === 'runAccepted'),
      false,
    );
  });

  it('says that a run was taken while it has no events yet', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"delay_ms":500}</mock>' }));
    await link.next('runAccepted');
    assert.deepEqual(link.eventsOf('r1'), []);
    await ended(link, 'r1');
  });

  it('puts events that are made in one tick in one message', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send(wireRequest('r1', { prompt: 'word '.repeat(200) }));
    await ended(link, 'r1');
    const batches = link.messages.filter((message) => message.case === 'runEvents').length;
    assert.ok(batches < 20, `${batches} messages for ${link.eventsOf('r1').length} events`);
  });

  it('pauses the adapter when the credit is used up and goes on with new credit', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"size":"2MiB"}</mock>', eventCredit: 64 * 1024 }));
    await link.next('runEvents');
    await sleep(100);
    const before = textOf(link, 'r1').length;
    assert.ok(before <= 128 * 1024, `${before} bytes for 64 KiB of credit`);
    let acked = 0;
    while (endOf(link, 'r1') === undefined) {
      link.send(credit('r1', 128 * 1024));
      acked = link.eventsOf('r1').length;
      link.send(ack('r1', acked));
      await sleep(5);
    }
    assert.ok(textOf(link, 'r1').length > 2 * 1024 * 1024);
    assert.equal(endOf(link, 'r1')?.end.case, 'completed');
  });

  it('ends a run that gets no credit within stall_after', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send(mockConfig(2, { stallAfterMs: 200 }));
    await link.next('nodeConfigResult', (result) => result.revision === 2);
    link.send(wireRequest('r1', { prompt: '<mock>{"size":"2MiB"}</mock>', eventCredit: 16 * 1024 }));
    const end = await ended(link, 'r1');
    assert.equal(end.end.case === 'failed' && end.end.value.failure?.code, 'run.stalled');
  });

  it('cancels', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    link.send(cancel('r1'));
    const end = await ended(link, 'r1');
    assert.equal(end.end.case === 'cancelled' && end.end.value.by, 'caller');
  });

  it('takes a body in parts, giving credit for them', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    const prompt = `<mock>{"text":"got it"}</mock>${'x'.repeat(400_000)}`;
    const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: prompt }] }));
    const request = wireRequest('r1');
    if (request.case !== 'runRequest') return;
    request.value.body = body.subarray(0, 65_536);
    request.value.bodySize = body.length;
    link.send(request);
    const part = (offset: number, end: number) => {
      const value = create(RunBodySchema, {
        runId: 'r1',
        attempt: 1,
        offset,
        data: body.subarray(offset, end),
      });
      link.send({ case: 'runBody', value });
    };
    for (let at = 65_536; at < 262_144; at += 65_536) part(at, at + 65_536);
    const given = await link.next('runCredit');
    assert.ok((given.entries[0]?.bytes ?? 0) >= 65_536);
    for (let at = 262_144; at < body.length; at += 65_536) part(at, at + 65_536);
    assert.equal((await ended(link, 'r1')).end.case, 'completed');
    assert.match(textOf(link, 'r1'), /got/);
  });

  it('fails a request whose body has a hole', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    const request = wireRequest('r1');
    if (request.case !== 'runRequest') return;
    request.value.bodySize = 1_000;
    link.send(request);
    const value = create(RunBodySchema, { runId: 'r1', attempt: 1, offset: 900, data: Buffer.alloc(100) });
    link.send({ case: 'runBody', value });
    const end = await ended(link, 'r1');
    assert.equal(end.end.case === 'failed' && end.end.value.failure?.code, 'request.body-broken');
  });

  it('refuses a configuration with all its problems and keeps the one in force', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    const vllm = (name: string, baseUrl: string) => ({
      name,
      kind: { case: 'vllm' as const, value: { baseUrl } },
    });
    const adapters = [vllm('a', 'http://169.254.169.254/v1'), vllm('b', 'not a url'), { name: 'c' }];
    const payload = (list: typeof adapters) =>
      ({
        case: 'nodeConfigPayload',
        value: create(NodeConfigPayloadSchema, { revision: 2, adapters: list }),
      }) as const;
    link.send(payload(adapters.slice(0, 2)));
    const result = await link.next('nodeConfigResult', ({ revision }) => revision === 2);
    assert.equal(result.accepted, false);
    assert.equal(result.problems.length, 2);
    assert.match(result.problems[0] ?? '', /adapters\.a: base_url: host 169\.254\.169\.254 is not allowed/);
    link.send({
      case: 'nodeConfigPayload',
      value: create(NodeConfigPayloadSchema, { revision: 3, adapters: [{ name: 'c' }] }),
    });
    const unknown = await link.next('nodeConfigResult', ({ revision }) => revision === 3);
    assert.match(unknown.problems[0] ?? '', /update it/);
    link.send(wireRequest('r1'));
    assert.equal((await ended(link, 'r1')).end.case, 'completed');
  });

  it('answers commands, also those it does not know', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    const ask = async (commandId: string, command: object) => {
      const value = create(NodeCommandRequestSchema, { commandId, command: command as never });
      link.send({ case: 'nodeCommandRequest', value });
      return (await link.next('nodeCommandResponse', (response) => response.commandId === commandId)).result;
    };
    const status = await ask('1', { case: 'status', value: {} });
    assert.deepEqual(status.case === 'status' && status.value.runs.map((run) => run.runId), ['r1']);
    assert.ok(status.case === 'status' && status.value.rssKib > 1000);
    const capabilities = await ask('2', { case: 'capabilities', value: {} });
    assert.equal(capabilities.case === 'capabilities' && capabilities.value.adapters[0]?.name, 'mock');
    const transport = await ask('3', { case: 'transport', value: {} });
    assert.deepEqual(transport.case === 'transport' && [transport.value.kind, transport.value.epoch], [
      'plain',
      1,
    ]);
    const sessions = await ask('4', { case: 'sessions', value: {} });
    assert.deepEqual(sessions.case === 'sessions' && sessions.value.sessions, []);
    assert.equal((await ask('5', { case: 'terminateSession', value: { sessionId: 's' } })).case, 'failure');
    assert.equal((await ask('6', { case: undefined })).case, 'failure');
    assert.equal((await ask('7', { case: 'drain', value: { deadlineMs: 50 } })).case, 'done');
    await link.next('edgeNodeEvent', ({ event }) => event.case === 'drainChanged' && event.value.draining);
    const end = await ended(link, 'r1');
    assert.equal(end.end.case === 'cancelled' && end.end.value.by, 'drain');
    assert.equal((await ask('8', { case: 'resume', value: {} })).case, 'done');
    await link.next('edgeNodeEvent', ({ event }) => event.case === 'drainChanged' && !event.value.draining);
  });

  it('answers a message that is not for a Node and goes on', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const link = await ready(edge);
    link.send({ case: 'operatorStop', value: { $typeName: 'iop.wire.v1.OperatorStop', id: 1 } });
    const error = await link.next('protocolError');
    assert.equal(error.fatal, false);
    link.send(wireRequest('r1'));
    await ended(link, 'r1');
  });
});

describe('edge link: links that come and go', () => {
  const slow = '<mock>{"chunks":40,"text":"0123456789012345678901234567890123456789","pace_ms":10}</mock>';

  it('E3: a run goes on over a lost link and its events are the same', async (test) => {
    const edge = await startFakeEdge();
    await startNode(test, edge);
    const first = await ready(edge);
    first.send(wireRequest('r1', { prompt: slow }));
    await first.next('runEvents', (batch) => batch.firstSeq >= 5);
    first.link.destroy('cut by the test');
    const seen = first.eventsOf('r1').length;
    const second = await edge.link(1);
    const [entry] = (await second.next('runInventory')).entries;
    assert.equal(entry?.runId, 'r1');
    assert.equal(entry?.state, RunState.RUNNING);
    assert.ok((entry?.lastSeq ?? 0) >= seen);
    assert.equal(entry?.firstKeptSeq, 1);
    second.send(resume({ runId: 'r1', attempt: 1, afterSeq: seen, eventCredit: 256 * 1024 }));
    await ended(second, 'r1');
    const text = textOf(first, 'r1') + textOf(second, 'r1');
    const digits = [...text.matchAll(/"content":"(\d)"/g)].map((match) => match[1]).join('');
    assert.equal(digits, '0123456789'.repeat(4));
  });

  it('D1: keeps an end until it is acked, and forgets it then', async (test) => {
    const edge = await startFakeEdge();
    const { edgeLink } = await startNode(test, edge);
    const first = await ready(edge);
    first.send(wireRequest('r1'));
    await ended(first, 'r1');
    first.link.destroy('cut by the test');
    const second = await edge.link(1);
    const [entry] = (await second.next('runInventory')).entries;
    assert.equal(entry?.state, RunState.COMPLETED);
    second.send(resume({ runId: 'r1', attempt: 1, afterSeq: 0, eventCredit: 256 * 1024 }));
    await ended(second, 'r1');
    assert.equal(textOf(first, 'r1'), textOf(second, 'r1'));
    second.send(ack('r1', second.eventsOf('r1').length));
    await edgeLink.settled(5_000);
    second.link.destroy('cut by the test');
    const third = await edge.link(2);
    assert.deepEqual((await third.next('runInventory')).entries, []);
  });

  it('D2: stops and forgets what the Edge drops or does not name', async (test) => {
    const edge = await startFakeEdge();
    const { node } = await startNode(test, edge);
    const first = await ready(edge);
    first.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    first.send(wireRequest('r2', { prompt: '<mock>{"stall":{}}</mock>' }));
    await first.next('runAccepted', ({ runId }) => runId === 'r2');
    first.link.destroy('cut by the test');
    const second = await edge.link(1);
    assert.equal((await second.next('runInventory')).entries.length, 2);
    second.send(resume({ runId: 'r1', attempt: 1, drop: true }));
    second.send(mockConfig());
    await second.next('edgeNodeEvent');
    assert.deepEqual(node.status().runs, []);
    assert.deepEqual(second.eventsOf('r1'), []);
  });

  it('a later attempt fences the earlier one', async (test) => {
    const edge = await startFakeEdge();
    const { node } = await startNode(test, edge);
    const link = await ready(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    link.send(wireRequest('r1', { attempt: 2 }));
    await link.next('runEvents', (batch) => batch.attempt === 2 && batch.events.at(-1)?.kind.case === 'end');
    assert.ok(link.messages.every((message) => message.case !== 'runEvents' || message.value.attempt === 2));
    assert.deepEqual(node.status().runs, []);
  });

  it('N4: stops attached runs when the link stays away', async (test) => {
    const edge = await startFakeEdge();
    const { node } = await startNode(test, edge);
    const link = await ready(edge);
    link.send(mockConfig(2, { orphanAfterMs: 100 }));
    await link.next('nodeConfigResult', (result) => result.revision === 2);
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    await edge.close();
    const until = performance.now() + 5_000;
    while (node.status().runs.length > 0 && performance.now() < until) await sleep(10);
    assert.deepEqual(node.status().runs, []);
  });

  it('says Goodbye when it is told to stop', async (test) => {
    const edge = await startFakeEdge();
    const { stop, over } = await startNode(test, edge);
    const link = await ready(edge);
    stop.abort();
    await over;
    assert.equal((await link.closed).kind, 'goodbye');
  });
});
