import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEnd, RunFailure } from '@iop/domain';
import { codeOf, createEdgeFixture, mockAdapter, settingsOf } from '../testing/edge-fixture.ts';
import { completed, type FakeNode, mockCapabilities } from '../testing/fake-node.ts';

const silent = { dispatched() {}, events() {}, end() {} };
const two = { capabilities: [mockCapabilities({ targets: [{ name: 'echo' }, { name: 'slow' }] })] };

function failed(over: Partial<RunFailure> = {}): RunEnd {
  const base = {
    kind: 'unavailable',
    code: 'upstream.status',
    message: 'no',
    details: {},
    retryable: true,
  } as const;
  return { kind: 'failed', failure: { ...base, ...over } };
}

const tooMany = (retryAfterMs?: number): RunEnd =>
  failed({
    kind: 'exhausted',
    upstream: {
      status: 429,
      body: new Uint8Array(),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  });

function setUp(limits: Parameters<typeof settingsOf>[1] = {}) {
  const fixture = createEdgeFixture(settingsOf({}, { breakerFailures: 3, breakerOpenMs: 1000, ...limits }));
  const intent = { door: 'openai', keyId: 'k', dialect: 'openai.chat', body: new Uint8Array() } as const;
  const ask = (model = 'echo') =>
    fixture.edge.start(
      { ...intent, select: { kind: 'model', model }, stream: false, includeUsage: false },
      silent,
    );
  const failOnce = (node: FakeNode, end: RunEnd, model = 'echo') => {
    fixture.start({ select: { kind: 'model', model } });
    node.last().end(end);
  };
  return { ...fixture, ask, failOnce };
}

test('E18: failures in a row close a place, and what is said is when to come back', () => {
  const { ask, clock, edge, failOnce, linkNode } = setUp();
  const node = linkNode('a');
  for (let i = 0; i < 3; i++) failOnce(node, failed());
  clock.advance(400);
  assert.deepEqual(ask(), {
    kind: 'no-node',
    asked: 'echo',
    detail: 'Node a mock/echo: breaker open for 1 s (3 failures in a row, the last upstream.status)',
    retryAfterMs: 600,
  });
  assert.equal(edge.counters.breakersOpened, 1);
  assert.match(edge.listTargets()[0]?.places[0]?.breaker ?? '', /^breaker open for 1 s/);
  clock.advance(600);
  assert.equal(ask().kind, 'accepted');
});

test('E18: a success in between begins to count anew, and fewer failures close nothing', () => {
  const { ask, failOnce, linkNode, start } = setUp();
  const node = linkNode('a');
  failOnce(node, failed());
  failOnce(node, failed());
  start();
  node.last().say('content');
  node.last().end(failed());
  failOnce(node, failed());
  failOnce(node, failed());
  assert.equal(ask().kind, 'accepted');
});

test('E18: nothing that a caller did, no cancel and nothing of the Node itself closes a place', () => {
  const { ask, failOnce, linkNode, start } = setUp();
  const node = linkNode('a');
  const upstream = { status: 400, body: new Uint8Array() };
  const harmless = [
    failed({ kind: 'invalid', retryable: false, upstream }),
    failed({ kind: 'not-found', retryable: false }),
    failed({ kind: 'exhausted', code: 'node.busy' }),
    failed({ code: 'node.draining' }),
    tooMany(),
  ];
  for (const end of harmless) for (let i = 0; i < 4; i++) failOnce(node, end);
  for (let i = 0; i < 4; i++) {
    start().cancel('caller');
    node.last().end(failed());
  }
  for (let i = 0; i < 4; i++) {
    start();
    node.last().say('content');
    node.last().end(failed());
  }
  assert.equal(ask().kind, 'accepted');
});

test('E19: after the block one run may try, others wait for it, and its success opens the place', () => {
  const { clock, failOnce, linkNode, start } = setUp();
  const node = linkNode('a');
  for (let i = 0; i < 3; i++) failOnce(node, failed());
  clock.advance(1000);
  const trial = start();
  const waiter = start();
  assert.deepEqual([trial.places.length, waiter.places.length], [1, 0]);
  node.last().say('content');
  assert.equal(waiter.places.length, 1, 'content is proof enough');
});

test('E19: a trial that fails closes the place for twice as long, up to a minute', () => {
  const { ask, clock, failOnce, linkNode } = setUp();
  const node = linkNode('a');
  for (let i = 0; i < 3; i++) failOnce(node, failed());
  for (const openMs of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
    const refused = ask();
    assert.equal(refused.kind === 'no-node' && refused.retryAfterMs, openMs);
    clock.advance(openMs);
    failOnce(node, failed());
  }
});

test('E19: a trial that ends without a verdict lets another one try', () => {
  const { clock, failOnce, linkNode, start } = setUp();
  const node = linkNode('a');
  for (let i = 0; i < 3; i++) failOnce(node, failed());
  clock.advance(1000);
  const trial = start();
  const next = start();
  trial.cancel('caller');
  node.last().end({ kind: 'cancelled', by: 'caller' });
  assert.equal(next.places.length, 1);
  node.last().end(completed);
  assert.equal(next.end?.kind, 'completed');
});

test('E20: whoever waits is served when the block is over', () => {
  const { clock, failOnce, linkNode, start } = setUp({ nodeConcurrency: 1 });
  const node = linkNode('a');
  for (let i = 0; i < 2; i++) failOnce(node, failed());
  start();
  const waiter = start();
  node.last().end(failed());
  assert.equal(waiter.places.length, 0);
  clock.advance(999);
  assert.equal(waiter.places.length, 0);
  clock.advance(1);
  assert.equal(waiter.places.length, 1);
});

test('an upstream that says when to come back is left alone so long, then is open to all', () => {
  const { ask, clock, failOnce, linkNode, start } = setUp();
  const node = linkNode('a');
  failOnce(node, tooMany(7000));
  const refused = ask();
  assert.equal(refused.kind === 'no-node' && refused.retryAfterMs, 7000);
  clock.advance(7000);
  assert.deepEqual(
    [start(), start()].map((run) => run.places.length),
    [1, 1],
  );
  failOnce(node, tooMany(1e12));
  const far = ask();
  assert.equal(far.kind === 'no-node' && far.retryAfterMs, 3_600_000, 'but an hour at most');
});

test('the soonest of several places is what is said', () => {
  const { ask, linkNode, start } = setUp();
  const nodes = new Map(['a', 'b'].map((name) => [name, linkNode(name)]));
  const run = start();
  nodes
    .get(run.places[0]?.node ?? '')
    ?.last()
    .end(tooMany(9000));
  nodes
    .get(run.places[1]?.node ?? '')
    ?.last()
    .end(tooMany(4000));
  const refused = ask();
  assert.equal(refused.kind === 'no-node' && refused.retryAfterMs, 4000);
});

test('what cannot be reached closes all targets of the adapter there, a bad target only itself', () => {
  const one = setUp();
  const a = one.linkNode('a', two);
  for (let i = 0; i < 3; i++) one.failOnce(a, failed());
  assert.deepEqual([one.ask('echo').kind, one.ask('slow').kind], ['no-node', 'accepted']);
  const all = setUp();
  const b = all.linkNode('b', two);
  for (let i = 0; i < 3; i++) all.failOnce(b, failed({ code: 'upstream.unreachable' }));
  assert.deepEqual([all.ask('echo').kind, all.ask('slow').kind], ['no-node', 'no-node']);
});

test('a health report that turns good, and a new process of the Node, forgive everything', () => {
  const { ask, edge, epochOf, failOnce, linkNode } = setUp();
  const node = linkNode('a');
  for (let i = 0; i < 3; i++) failOnce(node, failed());
  const at = { name: 'a', epoch: epochOf('a') };
  edge.nodes.capabilities(at, [mockCapabilities()]);
  assert.equal(ask().kind, 'no-node', 'healthy as before is no news');
  edge.nodes.capabilities(at, [mockCapabilities({ healthy: false })]);
  edge.nodes.capabilities(at, [mockCapabilities()]);
  assert.equal(ask().kind, 'accepted');
  node.last().end(failed());
  for (let i = 0; i < 2; i++) failOnce(node, failed());
  assert.equal(ask().kind, 'no-node');
  linkNode('a', { instance: 'two' });
  assert.equal(ask().kind, 'accepted');
});

test('a run goes on to another place when its own closes, and later runs pass it by', () => {
  const { linkNode, start } = setUp({ breakerFailures: 1 });
  const nodes = new Map(['a', 'b'].map((name) => [name, linkNode(name)]));
  const run = start();
  const [bad, good] = run.places[0]?.node === 'a' ? ['a', 'b'] : ['b', 'a'];
  nodes.get(bad)?.last().end(failed());
  assert.match(
    run.places[1]?.route ?? '',
    new RegExp(`before: ${bad} mock/echo failed \\(upstream.status\\)`),
  );
  nodes.get(good)?.last().end(completed);
  const later = [start(), start(), start()].map((each) => each.places[0]);
  assert.deepEqual([...new Set(later.map((place) => place?.node))], [good]);
  assert.equal(later[0]?.route, 'only candidate, 1 kept away by breakers');
});

test('breaker_failures 0: failures close nothing, the word of the upstream still does', () => {
  const { ask, failOnce, linkNode } = setUp({ breakerFailures: 0 });
  const node = linkNode('a');
  for (let i = 0; i < 20; i++) failOnce(node, failed());
  assert.equal(ask().kind, 'accepted');
  node.last().end(tooMany(3000));
  assert.equal(ask().kind, 'no-node');
});

test('an adapter without a breaker is never closed, whatever it says', () => {
  const { clock, edge, ask, failOnce, linkNode } = setUp({ breakerFailures: 1 });
  edge.configure(settingsOf({ adapters: [{ ...mockAdapter, breaker: false }] }));
  clock.settle();
  const node = linkNode('a');
  for (const end of [failed(), failed({ code: 'upstream.unreachable' }), tooMany(5000)]) failOnce(node, end);
  assert.equal(ask().kind, 'accepted');
});

test('a single failure is still the run’s own', () => {
  const { linkNode, start } = setUp({ breakerFailures: 1 });
  const node = linkNode('a');
  const run = start();
  node.last().end(failed());
  assert.equal(codeOf(run.end), 'upstream.status');
});
