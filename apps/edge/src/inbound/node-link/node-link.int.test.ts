import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  create,
  EdgeNodeEventSchema,
  LoadChangedSchema,
  RunCreditEntrySchema,
  RunCreditSchema,
  RunEventSchema,
  RunEventsSchema,
  RunState,
  StateEventSchema,
} from '@iop/wire';
import { codeOf, mockAdapter, settingsOf } from '../../testing/edge-fixture.ts';
import { completed } from '../../testing/fake-node.ts';
import { rawRunEvent, type WireNode, type WireRun } from '../../testing/wire-node.ts';
import { createWireWorld, until } from '../../testing/wire-world.ts';

const limit = { timeout: 60_000 };
const cancelled = { kind: 'cancelled', by: 'caller' } as const;

async function nextRun(node: WireNode, count = 1): Promise<WireRun> {
  await until(`${node.name} has ${count} runs`, () => node.runs.length >= count);
  const run = node.runs[count - 1];
  assert.ok(run !== undefined);
  return run;
}

for (const tls of [true, false]) {
  describe(`a run over ${tls ? 'TLS' : 'plaintext'}`, limit, () => {
    test('reaches the Node as it was asked, streams in order, and ends once', limit, async () => {
      await using world = await createWireWorld({ tls });
      const node = await world.readyNode('a');
      const run = world.start({ includeUsage: true });
      const there = await nextRun(node);
      const { request } = there;
      assert.deepEqual(
        [
          request.adapter,
          request.target,
          request.dialect,
          request.door,
          request.stream,
          request.includeUsage,
        ],
        ['mock', 'echo', 'openai.chat', 'openai', true, true],
      );
      assert.equal(request.eventCredit, 256 * 1024);
      assert.equal(new TextDecoder().decode(there.body), '{"model":"echo","messages":[]}');
      there.accept();
      const texts = Array.from({ length: 200 }, (_, i) => `${i} `);
      for (const text of texts) there.say(text);
      there.end({ ...completed, usage: { promptTokens: 1, completionTokens: 2, estimated: false } });
      await until('the run has ended', () => run.end !== undefined);
      assert.equal(run.text, texts.join(''));
      assert.deepEqual(run.end, {
        kind: 'completed',
        finish: 'stop',
        usage: { promptTokens: 1, completionTokens: 2, estimated: false },
      });
      await until('everything is acked', () => there.outbox.finished);
      const [record] = await world.edge.listRuns({ limit: 1, states: [], before: undefined });
      assert.equal(record?.state, 'completed');
      assert.ok(record?.startedAtMs !== undefined);
    });
  });
}

test(
  'a body of 3 MB arrives whole in parts of at most 64 KiB, also when the link is cut on the way',
  limit,
  async () => {
    await using world = await createWireWorld();
    const node = await world.readyNode('a');
    const body = new Uint8Array(3_000_000).map((_, i) => (i * 31) % 251);
    const run = world.start({ body });
    const there = await nextRun(node);
    assert.equal(there.request.bodySize, body.length);
    await until('a part of it is there', () => node.received.some((each) => each.case === 'runBody'));
    node.cut();
    await node.link();
    await until('the body is whole', () => there.body !== undefined);
    assert.ok(Buffer.from(there.body ?? []).equals(Buffer.from(body)));
    const parts = node.received.flatMap((each) => (each.case === 'runBody' ? [each.value.data.length] : []));
    assert.ok(Math.max(...parts) <= 64 * 1024);
    there.say('ok');
    there.end(completed);
    await until('the run has ended', () => run.end !== undefined);
    assert.equal(run.text, 'ok');
  },
);

test('a stream goes on unbroken over a link that is cut again and again', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const run = world.start();
  const there = await nextRun(node);
  let said = '';
  for (let i = 0; i < 10; i++) {
    for (let j = 0; j < 50; j++) {
      there.say(`${i}.${j} `);
      said += `${i}.${j} `;
    }
    await new Promise((resolve) => setTimeout(resolve, i));
    node.cut();
    there.say('while away ');
    said += 'while away ';
    await node.link();
  }
  there.end(completed);
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(run.text, said);
  assert.equal(run.places.length, 1, 'one attempt');
});

test('an end that was given while the link was down arrives after it', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const run = world.start();
  const there = await nextRun(node);
  there.say('half ');
  await until('it has arrived', () => run.text === 'half ');
  node.cut();
  there.say('whole');
  there.end(completed);
  await node.link();
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(run.text, 'half whole');
});

test('E10: a caller that takes nothing stops its own run after the window, and no other', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const stalled = world.start();
  const slow = await nextRun(node, 1);
  const piece = 'x'.repeat(16 * 1024);
  for (let i = 0; i < 100; i++) slow.say(piece);
  await until('the window is used up', () => stalled.text.length >= 256 * 1024 - 16 * 1024);
  const other = world.start();
  const quick = await nextRun(node, 2);
  quick.say('quick');
  quick.end(completed);
  await until('the other has ended', () => other.end !== undefined);
  assert.ok(stalled.text.length <= 256 * 1024 + 16 * 1024, `${stalled.text.length}`);
  let passedOn = 0;
  const drain = () => {
    const arrived = stalled.seen.reduce(
      (sum, each) => sum + (each.kind === 'events' ? each.sizeBytes : 0),
      0,
    );
    stalled.consumed(arrived - passedOn);
    passedOn = arrived;
  };
  slow.end(completed);
  await until('it goes on when the caller takes', () => {
    drain();
    return stalled.end !== undefined;
  });
  assert.equal(stalled.text.length, 100 * piece.length);
});

test('window taken by changes of state comes back by itself', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const run = world.start();
  const there = await nextRun(node);
  const value = create(StateEventSchema, { state: RunState.RUNNING });
  const state = create(RunEventSchema, { kind: { case: 'state', value } });
  for (let i = 0; i < 40_000; i++) there.outbox.append(state);
  there.say('after');
  there.end(completed);
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(run.text, 'after');
});

test(
  'a Node that dies before content is replaced by another one; its body is sent again',
  limit,
  async () => {
    await using world = await createWireWorld();
    const a = await world.readyNode('a');
    const run = world.start();
    await nextRun(a);
    const b = await world.readyNode('b');
    a.cut();
    const again = await nextRun(b);
    assert.equal(again.request.attempt, 2);
    assert.equal(again.body?.length, 30);
    again.say('hello');
    again.end(completed);
    await until('the run has ended', () => run.end !== undefined);
    assert.equal(run.text, 'hello');
    await a.link();
    await until('the old attempt is dropped', () => a.runs.length === 0);
  },
);

test('a Node that dies after content loses the run', limit, async () => {
  await using world = await createWireWorld({ settings: settingsOf({}, { lostAfterMs: 500 }) });
  const a = await world.readyNode('a');
  await world.readyNode('b');
  const run = world.start({ select: { kind: 'target', adapter: 'mock', target: 'echo', node: 'a' } });
  (await nextRun(a)).say('half');
  await until('content has arrived', () => run.text === 'half');
  a.cut();
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(codeOf(run.end), 'node.lost');
  assert.equal(run.places.length, 1);
});

test('another process of the Node loses the runs of the old one at once', limit, async () => {
  await using world = await createWireWorld();
  const a = await world.readyNode('a');
  const run = world.start();
  (await nextRun(a)).say('half');
  await until('content has arrived', () => run.text === 'half');
  a.restart();
  await until('the Edge has seen it go', () => world.edge.listNodes()[0]?.state === 'away');
  await a.link();
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(codeOf(run.end), 'node.lost');
});

test('a retryable failure before content goes to the other Node', limit, async () => {
  await using world = await createWireWorld();
  const nodes = [await world.readyNode('a'), await world.readyNode('b')];
  const run = world.start();
  await until('somebody has it', () => nodes.some((node) => node.runs.length > 0));
  const failure = {
    kind: 'unavailable',
    code: 'upstream.refused',
    message: 'x',
    details: {},
    retryable: true,
  } as const;
  nodes.find((node) => node.runs.length > 0)?.runs[0]?.end({ kind: 'failed', failure });
  await until('the other has it', () => nodes.every((node) => node.runs.length > 0));
  nodes.find((node) => node.runs[0]?.request.attempt === 2)?.runs[0]?.end(completed);
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(run.end?.kind, 'completed');
});

test('a cancel reaches the Node in every phase, and the run ends when the Node says so', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const phases = ['dispatched', 'accepted', 'streaming'] as const;
  for (const [index, phase] of phases.entries()) {
    const run = world.start();
    const there = await nextRun(node, index + 1);
    if (phase !== 'dispatched') there.accept();
    if (phase === 'streaming') {
      there.say('some');
      await until('content has arrived', () => run.text === 'some');
    }
    run.cancel('caller');
    await until('the Node is told', () => there.cancelledBy === 'caller');
    assert.equal(run.end, undefined, phase);
    there.end(cancelled);
    await until('the run has ended', () => run.end !== undefined);
    assert.deepEqual(run.end, cancelled);
  }
});

test('a cancel is not held up by a body or by the events of others', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const run = world.start({ body: new Uint8Array(8_000_000) });
  run.cancel('caller');
  const there = await nextRun(node);
  await until('the Node is told', () => there.cancelledBy === 'caller');
  assert.equal(there.body, undefined, 'before the body was there');
});

test(
  'E7: events of a run that nobody waits for are acked, told to stop, and reach nobody',
  limit,
  async () => {
    await using world = await createWireWorld({ settings: settingsOf({}, { stopAfterMs: 50 }) });
    const node = await world.readyNode('a');
    const run = world.start();
    const there = await nextRun(node);
    run.cancel('caller');
    await until('the Edge has given up', () => run.end !== undefined);
    assert.equal(codeOf(run.end), 'node.stop-unconfirmed');
    there.cancelledBy = undefined;
    there.say('ghost');
    await until('it is told to stop', () => there.cancelledBy === 'superseded');
    there.end(cancelled);
    await until('it may forget', () => there.outbox.finished);
    assert.equal(run.text, '');
  },
);

test('a Node that leaves out an event ends its run as event.gap', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const run = world.start();
  const there = await nextRun(node);
  const { runId, attempt } = there.request;
  const batch = { runId, attempt, firstSeq: 2, events: [rawRunEvent('x')] };
  node.send({ case: 'runEvents', value: create(RunEventsSchema, batch) });
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(codeOf(run.end), 'event.gap');
  await until('the Node is told to stop', () => there.cancelledBy === 'superseded');
});

test('a Node that sends more than it may ends its run, not its link', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  const run = world.start();
  const there = await nextRun(node);
  const { runId, attempt } = there.request;
  for (let i = 0; i < 8; i++) {
    const events = [rawRunEvent('x'.repeat(60_000))];
    const batch = { runId, attempt, firstSeq: i + 1, events };
    node.send({ case: 'runEvents', value: create(RunEventsSchema, batch) });
  }
  await until('the run has ended', () => run.end !== undefined);
  assert.equal(codeOf(run.end), 'event.overdrawn');
  assert.equal(world.edge.listNodes()[0]?.state, 'ready');
});

test('what a Node must not send, and what makes no sense, is answered and harms nobody', limit, async () => {
  await using world = await createWireWorld();
  const node = await world.readyNode('a');
  node.send({
    case: 'nodeConfigPayload',
    value: { $typeName: 'iop.wire.v1.NodeConfigPayload', revision: 1, adapters: [] },
  });
  const credit = create(RunCreditEntrySchema, { runId: 'run_none', attempt: 7, bytes: 5 });
  node.send({ case: 'runCredit', value: create(RunCreditSchema, { entries: [credit] }) });
  node.send({
    case: 'runEvents',
    value: create(RunEventsSchema, { runId: 'run_none', attempt: 1, firstSeq: 1 }),
  });
  await until('it is told', () => node.received.some((each) => each.case === 'protocolError'));
  const run = world.start();
  (await nextRun(node)).end(completed);
  await until('the run has ended', () => run.end !== undefined);
});

test('a Node is given the adapters that are meant for it, and again when they change', limit, async () => {
  const vllm = {
    name: 'gpu',
    nodes: ['a', 'zone=x'],
    concurrency: 4,
    targets: [{ name: 'm', concurrency: 2 }],
    options: {
      kind: 'vllm',
      baseUrl: 'http://127.0.0.1:8000/v1',
      apiKeyFile: '/etc/key',
      connectTimeoutMs: 1,
      firstByteTimeoutMs: 2,
      idleTimeoutMs: 3,
    },
  } as const;
  const settings = settingsOf({ adapters: [mockAdapter, vllm] }, { orphanAfterMs: 77, stallAfterMs: 88 });
  await using world = await createWireWorld({ settings });
  const a = await world.readyNode('a');
  const b = await world.readyNode('b');
  const configOf = (node: WireNode) => {
    const message = node.received.findLast((each) => each.case === 'nodeConfigPayload');
    return message?.case === 'nodeConfigPayload' ? message.value : undefined;
  };
  assert.deepEqual(
    configOf(b)?.adapters.map((each) => each.name),
    ['mock'],
  );
  assert.equal(configOf(a)?.limits?.orphanAfterMs, 77);
  assert.equal(configOf(a)?.limits?.stallAfterMs, 88);
  const gpu = configOf(a)?.adapters[1];
  assert.equal(gpu?.concurrency, 4);
  assert.deepEqual(
    gpu?.targets.map(({ name, concurrency }) => [name, concurrency]),
    [['m', 2]],
  );
  const kind = gpu?.kind.case === 'vllm' ? gpu.kind.value : undefined;
  assert.deepEqual(
    [kind?.baseUrl, kind?.apiKeyFile, kind?.connectTimeoutMs, kind?.firstByteTimeoutMs, kind?.idleTimeoutMs],
    ['http://127.0.0.1:8000/v1', '/etc/key', 1, 2, 3],
  );
  world.edge.configure({ ...settings, revision: 2, adapters: [mockAdapter] });
  await until('it has the new one', () => configOf(a)?.revision === 2);
  assert.deepEqual(
    configOf(a)?.adapters.map((each) => each.name),
    ['mock'],
  );
});

test('a Node that refuses its configuration is not ready and says why', limit, async () => {
  await using world = await createWireWorld();
  await world.node('a', { accepts: () => ['adapters[0]: not allowed'] }).link();
  await until('the Edge knows', () => world.edge.listNodes()[0]?.detail.includes('not allowed') === true);
  assert.equal(world.edge.listNodes()[0]?.state, 'configuring');
});

describe('load of a Node', limit, () => {
  test('is kept as it was last said, and is gone with the link', limit, async () => {
    await using world = await createWireWorld();
    const node = await world.readyNode('a');
    const load = () => world.edge.listNodes()[0]?.adapters.find(({ name }) => name === 'mock')?.load;
    assert.equal(load(), undefined);
    const say = (adapters: { adapter: string; running: number; waiting?: number; cacheUse?: number }[]) => {
      const value = create(LoadChangedSchema, { adapters });
      const event = create(EdgeNodeEventSchema, { event: { case: 'loadChanged', value } });
      node.send({ case: 'edgeNodeEvent', value: event });
    };
    say([
      { adapter: 'mock', running: 3, waiting: 1, cacheUse: 0.37 },
      { adapter: 'b', running: 1 },
    ]);
    await until('the load is known', () => load() !== undefined);
    assert.deepEqual(load(), { running: 3, waiting: 1, cacheUse: 0.37 });
    say([{ adapter: 'mock', running: 2 }]);
    await until('the load has changed', () => load()?.running === 2);
    assert.deepEqual(load(), { running: 2, waiting: 0 });
    say([{ adapter: 'b', running: 1 }]);
    await until('what is named no more is known no more', () => load() === undefined);
    say([{ adapter: 'mock', running: 5 }]);
    await until('it is known again', () => load()?.running === 5);
    node.cut();
    await until('the load is gone', () => load() === undefined);
  });
});
