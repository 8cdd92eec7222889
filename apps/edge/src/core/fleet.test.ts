import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEdgeFixture } from '../testing/edge-fixture.ts';
import { completed } from '../testing/fake-node.ts';

test('two hundred Nodes that come, go and come back leave every run with one end and every place free', () => {
  const { edge, linkNode, start, cut, clock } = createEdgeFixture();
  const names = Array.from({ length: 200 }, (_, i) => `n${i}`);
  const nodes = names.map((name) => linkNode(name));
  assert.equal(edge.gauges().nodesReady, 200);
  const runs = names.map(() => start());
  assert.ok(
    nodes.every((node) => node.given.length === 1),
    'least busy spreads them evenly',
  );
  for (const name of names.slice(0, 100)) cut(name);
  clock.advance(300);
  assert.equal(edge.counters.redispatched, 100);
  for (const name of names.slice(0, 100)) linkNode(name);
  for (const node of nodes) {
    for (const attempt of node.given) if (!attempt.forgotten) attempt.end(completed);
  }
  assert.ok(runs.every((run) => run.end?.kind === 'completed'));
  assert.ok(edge.listNodes().every((node) => node.running === 0 && node.state === 'ready'));
  assert.equal(clock.pending, 0);
});
