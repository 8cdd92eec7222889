import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, createEdgeFixture, mockAdapter, settingsOf } from '../testing/edge-fixture.ts';
import { completed, mockCapabilities } from '../testing/fake-node.ts';

const silent = { dispatched() {}, events() {}, end() {} };
const two = { capabilities: [mockCapabilities({ targets: [{ name: 'echo' }, { name: 'slow' }] })] };
const wants = (model: string) => ({ select: { kind: 'model', model } as const });

function queueOf(targets: {
  echo?: number;
  slow?: number;
  node?: number;
  queue?: number;
  queueWaitMs?: number;
}) {
  const { echo = 0, slow = 0, node = 0, ...limits } = targets;
  const adapter = {
    ...mockAdapter,
    targets: [
      { name: 'echo', concurrency: echo },
      { name: 'slow', concurrency: slow },
    ],
  };
  return createEdgeFixture(settingsOf({ adapters: [adapter] }, { nodeConcurrency: node, ...limits }));
}

test('the least busy Node gets the run, and among equals they take turns', () => {
  const { linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  const b = linkNode('b');
  const nodes = [1, 2, 3, 4].map(() => start().places[0]?.node);
  assert.equal(a.given.length, 2);
  assert.equal(b.given.length, 2);
  assert.notEqual(nodes[0], nodes[1]);
  a.given[0]?.end(completed);
  assert.equal(start().places[0]?.node, 'a');
});

test('E2: concurrency is kept per Node, per adapter and per target, and places are given back once', () => {
  for (const limits of [{ node: 2 }, { echo: 2 }]) {
    const { edge, linkNode, start } = queueOf(limits);
    const node = linkNode('a', two);
    const runs = [start(), start(), start()];
    assert.equal(node.given.length, 2);
    assert.equal(edge.gauges().runsQueued, 1);
    node.given[0]?.end(completed);
    assert.equal(node.given.length, 3, 'the waiter got the place in the same tick');
    node.given[1]?.end(completed);
    node.given[2]?.end(completed);
    assert.ok(runs.every((run) => run.end?.kind === 'completed'));
    assert.equal(edge.listNodes()[0]?.running, 0);
  }
  const adapter = { ...mockAdapter, concurrency: 1 };
  const { linkNode, start } = createEdgeFixture(settingsOf({ adapters: [adapter] }));
  const node = linkNode('a', two);
  start(wants('echo'));
  start(wants('slow'));
  assert.equal(node.given.length, 1, 'the limit of an adapter is over all its targets');
});

test('E4: waiters of one target go in order', () => {
  const { linkNode, start } = queueOf({ echo: 1 });
  const node = linkNode('a', two);
  const runs = [start(), start(), start(), start()];
  for (let i = 0; i < 4; i++) node.given[i]?.end(completed);
  assert.deepEqual(
    node.given.map((attempt) => attempt.order.runId),
    runs.map((run) => run.id),
  );
});

test('E3: the head of the line blocks nobody who wants another target', () => {
  const { edge, linkNode, start } = queueOf({ echo: 1, slow: 1 });
  const node = linkNode('a', two);
  const slow = start(wants('slow'));
  const waitsSlow = start(wants('slow'));
  const echo = start(wants('echo'));
  assert.equal(echo.places.length, 1, 'another target is free at once');
  const waitsEcho = start(wants('echo'));
  assert.equal(edge.gauges().runsQueued, 2);
  node.given.find((attempt) => attempt.order.runId === echo.id)?.end(completed);
  assert.equal(waitsEcho.places.length, 1);
  assert.equal(waitsSlow.places.length, 0);
  node.given.find((attempt) => attempt.order.runId === slow.id)?.end(completed);
  assert.equal(waitsSlow.places.length, 1);
});

test('E4: when a place frees that several could use, the one who came first goes', () => {
  const { linkNode, start } = queueOf({ node: 1 });
  const node = linkNode('a', two);
  start(wants('echo'));
  const first = start(wants('slow'));
  const second = start(wants('echo'));
  node.given[0]?.end(completed);
  assert.deepEqual([first.places.length, second.places.length], [1, 0]);
});

test('E5: a waiter that leaves is out of the line before cancel returns, and its end is told', () => {
  const { edge, linkNode, start } = queueOf({ echo: 1 });
  const node = linkNode('a', two);
  start();
  const leaver = start();
  const next = start();
  leaver.cancel('caller');
  assert.deepEqual(leaver.end, { kind: 'cancelled', by: 'caller' });
  assert.equal(edge.gauges().runsQueued, 1);
  node.given[0]?.end(completed);
  assert.equal(next.places.length, 1);
  assert.equal(leaver.places.length, 0);
});

test('a full line refuses the next one and takes it again when there is room', () => {
  const { edge, linkNode, start } = queueOf({ echo: 1, queue: 2 });
  const node = linkNode('a', two);
  start();
  start();
  start();
  const outcome = edge.start({ ...intent, select: { kind: 'model', model: 'echo' } }, silent);
  assert.deepEqual(outcome, { kind: 'queue-full', asked: 'echo', limit: 2, retryAfterMs: 1000 });
  assert.equal(start(wants('slow')).places.length, 1, 'a free place is not refused because of the line');
  node.given[0]?.end(completed);
  assert.equal(start().end, undefined);
});

const intent = {
  door: 'openai',
  keyId: 'k',
  dialect: 'openai.chat',
  body: new Uint8Array(),
  stream: false,
  includeUsage: false,
} as const;

test('a waiter whose time is over fails as exhausted and leaves nothing behind', () => {
  const { edge, clock, linkNode, start } = queueOf({ echo: 1, queueWaitMs: 500 });
  const node = linkNode('a', two);
  start();
  const waiter = start();
  clock.advance(499);
  assert.equal(waiter.end, undefined);
  clock.advance(1);
  assert.equal(codeOf(waiter.end), 'queue.timeout');
  assert.equal(edge.gauges().runsQueued, 0);
  node.given[0]?.end(completed);
  assert.equal(node.given.length, 1);
});

test('whoever waits is served as soon as another Node is ready or a limit is raised', () => {
  const { clock, edge, linkNode, start } = queueOf({ echo: 1 });
  linkNode('a', two);
  start();
  const second = start();
  const third = start();
  linkNode('b', two);
  assert.equal(second.places[0]?.node, 'b');
  edge.configure(settingsOf());
  clock.settle();
  assert.equal(third.places.length, 1);
});

test('a run for one Node waits for that Node only', () => {
  const { edge, linkNode, start } = createEdgeFixture();
  linkNode('a');
  const b = linkNode('b');
  const select = { kind: 'target', adapter: 'mock', target: 'echo', node: 'b' } as const;
  start({ select });
  start({ select });
  assert.equal(b.given.length, 2);
  const outcome = edge.start({ ...intent, select: { ...select, node: 'nowhere' } }, silent);
  assert.match(outcome.kind === 'no-node' ? outcome.detail : '', /Node nowhere is not known/);
});

test('E13: a Node that has not answered everything, or drains, gets no runs', () => {
  const { edge, clock, bareLink, epochOf } = createEdgeFixture();
  const refused = () => edge.start({ ...intent, select: { kind: 'model', model: 'mock/echo' } }, silent).kind;
  bareLink('a');
  const at = { name: 'a', epoch: epochOf('a') };
  const steps = [
    () => edge.nodes.inventory(at, []),
    () => edge.nodes.configResult(at, { revision: 1, problems: [] }),
    () => edge.nodes.capabilities(at, [mockCapabilities()]),
  ];
  for (const step of steps) {
    assert.notEqual(refused(), 'accepted');
    step();
    clock.settle();
  }
  assert.equal(refused(), 'accepted');
  edge.nodes.draining(at, true);
  assert.equal(refused(), 'no-node');
  edge.nodes.draining(at, false);
  clock.settle();
  assert.equal(refused(), 'accepted');
  edge.nodes.down(at);
  assert.equal(refused(), 'no-node', 'in the same tick');
});

test('a Node that refuses its configuration gets no runs and says why', () => {
  const { edge, clock, bareLink, epochOf, linkNode } = createEdgeFixture();
  bareLink('a');
  const at = { name: 'a', epoch: epochOf('a') };
  edge.nodes.inventory(at, []);
  edge.nodes.configResult(at, { revision: 1, problems: ['adapters[0]: kind vllm is not allowed here'] });
  edge.nodes.capabilities(at, []);
  clock.settle();
  assert.match(edge.listNodes()[0]?.detail ?? '', /refused configuration revision 1: adapters\[0\]/);
  edge.nodes.configResult(at, { revision: 1, problems: ['one', 'two', 'three', 'four', 'five'] });
  assert.match(edge.listNodes()[0]?.detail ?? '', /: one; two; three; 2 more, which the logs/);
  linkNode('b');
  edge.nodes.configResult({ name: 'b', epoch: 1 }, { revision: 2, problems: ['no'] });
  assert.equal(edge.listNodes()[1]?.state, 'ready', 'it goes on with its last good revision');
});

test('E13: a Node that is ready gets work, also while the catalogue is a moment behind', () => {
  const { linkNode, start } = createEdgeFixture();
  const node = linkNode('a', { settle: false });
  start();
  assert.equal(node.given.length, 1);
});
