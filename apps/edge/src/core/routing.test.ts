import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { createEdgeFixture, type LinkOptions, mockAdapter, settingsOf } from '../testing/edge-fixture.ts';
import { completed, mockCapabilities } from '../testing/fake-node.ts';
import type { AliasRoute, Limits } from './settings.ts';

const big = { ...mockAdapter, name: 'big' };
const offers = (...names: string[]): LinkOptions => ({
  capabilities: names.map((name) => mockCapabilities({ name, targets: [{ name: `${name}-model` }] })),
});
const route = (name: string, weight?: number): AliasRoute => ({ name, weight });
const fast = { select: { kind: 'model', model: 'fast' } } as const;
const refused: RunEnd = {
  kind: 'failed',
  failure: { kind: 'unavailable', code: 'upstream.status', message: 'no', details: {}, retryable: true },
};

function setUp(tiers: AliasRoute[][], limits: Partial<Limits> = {}) {
  const models = [{ kind: 'alias', name: 'fast', tiers }] as const;
  return createEdgeFixture(
    settingsOf({ adapters: [mockAdapter, big], models }, { breakerFailures: 1, ...limits }),
  );
}

test('weights are shares: three to one, evenly mixed', () => {
  const { linkNode, start } = setUp([[route('big/big-model', 3), route('mock/mock-model', 1)]]);
  linkNode('a', offers('big', 'mock'));
  const adapters = Array.from({ length: 12 }, () => start(fast).places[0]);
  const of = (name: string) => adapters.filter((place) => place?.adapter === name).length;
  assert.deepEqual([of('big'), of('mock')], [9, 3]);
  for (let i = 0; i < 12; i += 4) {
    assert.equal(adapters.slice(i, i + 4).filter((place) => place?.adapter === 'mock').length, 1);
  }
  assert.equal(adapters[0]?.route, 'alias fast: 1st choice, by weight 3');
});

test('who was away does not catch up, and who is full leaves its share to the others', () => {
  const { cut, linkNode, start } = setUp([[route('big/big-model', 1), route('mock/mock-model', 1)]]);
  linkNode('a', offers('big'));
  linkNode('b', offers('mock'));
  cut('b');
  for (let i = 0; i < 10; i++) assert.equal(start(fast).places[0]?.adapter, 'big');
  linkNode('b', offers('mock'));
  const next = Array.from({ length: 8 }, () => start(fast).places[0]?.adapter);
  assert.equal(next.filter((name) => name === 'mock').length, 4);
});

test('a tier without weights is one pool: the least busy place of all', () => {
  const { linkNode, start } = setUp([[route('big/big-model'), route('mock/mock-model')]]);
  linkNode('a', offers('big'));
  linkNode('b', offers('mock'));
  const places = [start(fast), start(fast)].map((run) => run.places[0]);
  assert.deepEqual(places.map((place) => place?.node).toSorted(), ['a', 'b']);
  assert.equal(places[0]?.route, 'alias fast: 1st choice, least busy of 2');
});

test('a later choice is taken when nothing of the earlier ones is up or open, and the answer says why', () => {
  const { clock, cut, linkNode, start } = setUp([[route('big/big-model')], [route('mock/mock-model')]], {
    breakerOpenMs: 5000,
  });
  const a = linkNode('a', offers('big'));
  linkNode('b', offers('mock'));
  const run = start(fast);
  assert.equal(run.places[0]?.route, 'alias fast: 1st choice, only candidate');
  a.last().end(refused);
  assert.equal(
    run.places[1]?.route,
    'alias fast: 2nd choice, only candidate; 1st: no Node up; before: a big/big-model failed (upstream.status)',
  );
  assert.equal(
    start(fast).places[0]?.route,
    'alias fast: 2nd choice, only candidate; 1st: breaker open for 5 s',
  );
  clock.advance(5000);
  assert.equal(start(fast).places[0]?.adapter, 'big', 'the trial');
  cut('a');
  assert.match(start(fast).places[0]?.route ?? '', /2nd choice, only candidate; 1st: no Node up$/);
});

test('another adapter of the same Node may try what one of its adapters failed', () => {
  const { linkNode, start } = setUp([[route('big/big-model')], [route('mock/mock-model')]]);
  const node = linkNode('a', offers('big', 'mock'));
  const run = start(fast);
  node.last().end(refused);
  assert.deepEqual(
    run.places.map((place) => place.adapter),
    ['big', 'mock'],
  );
  node.last().end(completed);
  assert.equal(run.end?.kind, 'completed');
});

test('a first choice that is full is waited for', () => {
  const { linkNode, start } = setUp([[route('big/big-model')], [route('mock/mock-model')]], {
    nodeConcurrency: 1,
  });
  linkNode('a', offers('big'));
  linkNode('b', offers('mock'));
  start(fast);
  assert.equal(start(fast).places.length, 0);
});

test('an upstream in which others wait is passed by, and one that others keep busy counts as busy', () => {
  const { edge, epochOf, linkNode, start } = createEdgeFixture();
  linkNode('a');
  linkNode('b');
  const say = (name: string, running: number, waiting: number) =>
    edge.nodes.loads({ name, epoch: epochOf(name) }, new Map([['mock', { running, waiting }]]));
  say('a', 0, 3);
  assert.deepEqual(
    [start(), start(), start()].map((run) => run.places[0]?.node),
    ['b', 'b', 'b'],
  );
  say('a', 2, 0);
  assert.equal(start().places[0]?.node, 'a', '2 of others are fewer than 3');
  say('a', 9, 0);
  assert.equal(start().places[0]?.node, 'b');
  edge.nodes.loads({ name: 'a', epoch: 99 }, new Map([['mock', { running: 0, waiting: 0 }]]));
  assert.equal(start().places[0]?.node, 'b', 'E12: what another link says does not count');
});

test('how a place was chosen is said in few words, and is in the record', () => {
  const { linkNode, records, start } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const a = linkNode('a');
  const alone = start();
  a.last().end(completed);
  linkNode('b');
  const pair = [start(), start()];
  const select = { kind: 'target', adapter: 'mock', target: 'echo', node: 'a' } as const;
  a.last().end(completed);
  const asked = start({ select });
  assert.deepEqual(
    [alone, ...pair, asked].map((run) => run.places[0]?.route),
    ['only candidate', 'least busy of 2', 'only one free of 2', 'Node asked for'],
  );
  assert.equal(records.saved.findLast((record) => record.runId === asked.id)?.route, 'Node asked for');
});

test('when to ask again follows how long runs take', () => {
  const { clock, edge, linkNode, start } = createEdgeFixture(
    settingsOf({}, { nodeConcurrency: 1, queue: 1 }),
  );
  const node = linkNode('a');
  start();
  node.last().accept();
  clock.advance(8000);
  node.last().end(completed);
  start();
  start();
  const intent = { door: 'openai', keyId: 'k', dialect: 'openai.chat', body: new Uint8Array() } as const;
  const select = { kind: 'model', model: 'echo' } as const;
  const outcome = edge.start(
    { ...intent, select, stream: false, includeUsage: false },
    { dispatched() {}, events() {}, end() {} },
  );
  assert.deepEqual(outcome, { kind: 'queue-full', asked: 'echo', limit: 1, retryAfterMs: 16_000 });
});
