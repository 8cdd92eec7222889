import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, NodeCommandRequestSchema, NodeConfigPayloadSchema, RunBodySchema } from '@iop/wire';
import { mockConfig, resume, startFakeEdge, wireRequest } from '../../testing/fake-edge.ts';
import {
  ack,
  cancel,
  credit,
  ended,
  endOf,
  readyLink,
  startLinkedNode,
  textOf,
} from '../../testing/linked-node.ts';
import { answerStatus, startScriptedUpstream } from '../../testing/scripted-upstream.ts';
import { acceptWithinMs } from './accept-notes.ts';

describe('edge link', () => {
  it('E1: sends an inventory first, then tells what the configured adapters can do', async (test) => {
    const edge = await startFakeEdge();
    await startLinkedNode(test, edge);
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
    await startLinkedNode(test, edge);
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
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
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
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"delay_ms":500}</mock>' }));
    await link.next('runAccepted');
    assert.deepEqual(link.eventsOf('r1'), []);
    await ended(link, 'r1');
  });

  it('puts events that are made in one tick in one message', async (test) => {
    const edge = await startFakeEdge();
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    link.send(wireRequest('r1', { prompt: 'word '.repeat(200) }));
    await ended(link, 'r1');
    const batches = link.messages.filter((message) => message.case === 'runEvents').length;
    assert.ok(batches < 20, `${batches} messages for ${link.eventsOf('r1').length} events`);
  });

  it('pauses the adapter when the credit is used up and goes on with new credit', async (test) => {
    const edge = await startFakeEdge();
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
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
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    link.send(mockConfig(2, { stallAfterMs: 200 }));
    await link.next('nodeConfigResult', (result) => result.revision === 2);
    link.send(wireRequest('r1', { prompt: '<mock>{"size":"2MiB"}</mock>', eventCredit: 16 * 1024 }));
    const end = await ended(link, 'r1');
    assert.equal(end.end.case === 'failed' && end.end.value.failure?.code, 'run.stalled');
  });

  it('cancels', async (test) => {
    const edge = await startFakeEdge();
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    link.send(cancel('r1'));
    const end = await ended(link, 'r1');
    assert.equal(end.end.case === 'cancelled' && end.end.value.by, 'caller');
  });

  it('takes a body in parts, giving credit for them', async (test) => {
    const edge = await startFakeEdge();
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
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
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
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
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
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
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
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
    await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    link.send({ case: 'operatorStop', value: { $typeName: 'iop.wire.v1.OperatorStop', id: 1 } });
    const error = await link.next('protocolError');
    assert.equal(error.fatal, false);
    link.send(wireRequest('r1'));
    await ended(link, 'r1');
  });
});
