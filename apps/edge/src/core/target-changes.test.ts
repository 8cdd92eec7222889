import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEdgeFixture, mockAdapter, settingsOf } from '../testing/edge-fixture.ts';
import { mockCapabilities } from '../testing/fake-node.ts';

const targets = (...names: string[]) => [mockCapabilities({ targets: names.map((name) => ({ name })) })];

test('what appears and goes is told once, also over a new link', () => {
  const { bareLink, edge, epochOf, linkNode } = createEdgeFixture();
  linkNode('a', { capabilities: targets('echo') });
  const at = () => ({ name: 'a', epoch: epochOf('a') });
  const words = (names: string[]) =>
    edge.nodes
      .capabilities(at(), targets(...names))
      .map(({ kind, adapter, target }) => `${kind} ${adapter}/${target}`);
  assert.deepEqual(words(['echo']), []);
  assert.deepEqual(words(['echo', 'slow']), ['appeared mock/slow']);
  bareLink('a');
  assert.deepEqual(words(['slow', 'new']), ['appeared mock/new', 'gone mock/echo']);
  assert.deepEqual([edge.counters.targetsAppeared, edge.counters.targetsGone], [3, 1]);
  const ill = edge.nodes.capabilities(at(), [
    { ...mockCapabilities(), healthy: false, detail: 'ECONNREFUSED', targets: [] },
  ]);
  assert.deepEqual(ill[0], { kind: 'unhealthy', adapter: 'mock', target: '', detail: 'ECONNREFUSED' });
  assert.deepEqual(edge.nodes.capabilities({ name: 'a', epoch: 99 }, targets('late')), [], 'E12');
  assert.deepEqual(
    edge.nodes.capabilities(at(), []).map((each) => each.kind),
    [],
  );
});

test('a target tells its places, what it can do, how busy it is and which aliases lead to it', () => {
  const alias = {
    kind: 'alias',
    name: 'fast',
    tiers: [
      [{ name: 'slow', weight: undefined }],
      [
        { name: 'echo', weight: 3 },
        { name: 'slow', weight: 1 },
      ],
    ],
  } as const;
  const { edge, epochOf, linkNode } = createEdgeFixture(
    settingsOf({ adapters: [mockAdapter], models: [alias] }),
    ['c'],
  );
  const fact = (name: 'tools' | 'chat', holds: boolean, source: 'declared' | 'measured') => ({
    name,
    holds,
    source,
  });
  const offer = (contextLength: number, facts: ReturnType<typeof fact>[]) => ({
    capabilities: [mockCapabilities({ targets: [{ name: 'echo', contextLength, facts }] })],
  });
  linkNode('a', offer(8192, [fact('tools', true, 'declared'), fact('chat', true, 'declared')]));
  linkNode('b', offer(4096, [fact('tools', false, 'measured'), fact('chat', true, 'declared')]));
  edge.nodes.loads({ name: 'b', epoch: epochOf('b') }, new Map([['mock', { running: 2, waiting: 1 }]]));
  const [echo] = edge.listTargets();
  assert.equal(echo?.contextLength, 4096);
  assert.deepEqual(echo?.facts, [fact('chat', true, 'declared'), fact('tools', false, 'measured')]);
  assert.deepEqual(echo?.aliases, [{ name: 'fast', choice: 2, weight: 3 }]);
  assert.deepEqual(
    echo?.places.map(({ node, state, load }) => [node, state, load?.waiting]),
    [
      ['c', 'away', undefined],
      ['a', 'ready', undefined],
      ['b', 'ready', 1],
    ],
  );
});
