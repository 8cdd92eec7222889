import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEdgeFixture, mockAdapter, settingsOf } from '../testing/edge-fixture.ts';
import { mockCapabilities } from '../testing/fake-node.ts';
import type { EdgeSettings } from './settings.ts';

const vllm = {
  name: 'vllm',
  nodes: ['gpu-1', 'zone=a'],
  concurrency: 0,
  targets: [],
  options: {
    kind: 'vllm',
    baseUrl: 'http://127.0.0.1:8000/v1',
    connectTimeoutMs: 0,
    firstByteTimeoutMs: 0,
    idleTimeoutMs: 0,
  },
} as const;

const models: EdgeSettings['models'] = [
  { kind: 'target', name: 'qwen', adapter: 'vllm', target: 'Qwen/Qwen3-8B', concurrency: 0 },
  {
    kind: 'alias',
    name: 'best',
    tiers: [[{ name: 'qwen', weight: undefined }], [{ name: 'echo', weight: undefined }]],
  },
];

function setUp() {
  const fixture = createEdgeFixture(settingsOf({ adapters: [mockAdapter, vllm], models }));
  const qwen = mockCapabilities({
    name: 'vllm',
    kind: 'vllm',
    targets: [{ name: 'Qwen/Qwen3-8B' }, { name: 'x/y' }],
  });
  return { ...fixture, both: { capabilities: [mockCapabilities(), qwen] }, qwen };
}

function placeOf(fixture: ReturnType<typeof setUp>, model: string): string {
  const { places } = fixture.start({ select: { kind: 'model', model } });
  return places.map(({ node, adapter, target }) => `${node} ${adapter} ${target}`).join();
}

test('a public name replaces the upstream’s own; without one the own name is public', () => {
  const fixture = setUp();
  fixture.linkNode('gpu-1', fixture.both);
  const names = fixture.edge.models().map((model) => model.name);
  assert.deepEqual(names.toSorted(), ['best', 'echo', 'qwen', 'x/y']);
  assert.equal(placeOf(fixture, 'qwen'), 'gpu-1 vllm Qwen/Qwen3-8B');
  assert.equal(placeOf(fixture, 'x/y'), 'gpu-1 vllm x/y', 'a slash in a name is no adapter');
});

test('adapter/name means that adapter only, by either name', () => {
  const fixture = setUp();
  fixture.linkNode('gpu-1', fixture.both);
  assert.equal(placeOf(fixture, 'vllm/qwen'), 'gpu-1 vllm Qwen/Qwen3-8B');
  assert.equal(placeOf(fixture, 'vllm/Qwen/Qwen3-8B'), 'gpu-1 vllm Qwen/Qwen3-8B');
  assert.equal(placeOf(fixture, 'mock/echo'), 'gpu-1 mock echo');
  const outcome = fixture.edge.start({ ...intent('mock/qwen') }, { dispatched() {}, events() {}, end() {} });
  assert.equal(outcome.kind, 'unknown-target');
});

function intent(model: string) {
  return {
    door: 'openai',
    keyId: 'k',
    select: { kind: 'model', model },
    dialect: 'openai.chat',
    body: new Uint8Array(),
    stream: false,
    includeUsage: false,
  } as const;
}

const silent = { dispatched() {}, events() {}, end() {} };

test('the same name on several Nodes is listed once and has several candidates', () => {
  const fixture = setUp();
  fixture.linkNode('a');
  fixture.linkNode('b');
  assert.equal(fixture.edge.models().filter((model) => model.name === 'echo').length, 1);
  const nodes = [placeOf(fixture, 'echo'), placeOf(fixture, 'echo')];
  assert.deepEqual(nodes.toSorted(), ['a mock echo', 'b mock echo']);
});

test('a fallback list means the first name that has a Node up', () => {
  const fixture = setUp();
  fixture.linkNode('b');
  assert.equal(placeOf(fixture, 'best'), 'b mock echo');
  fixture.linkNode('gpu-1', fixture.both);
  assert.equal(placeOf(fixture, 'best'), 'gpu-1 vllm Qwen/Qwen3-8B');
});

test('an unknown name is answered with the nearest known ones', () => {
  const fixture = setUp();
  fixture.linkNode('gpu-1', fixture.both);
  assert.deepEqual(fixture.edge.start(intent('qwne'), silent), {
    kind: 'unknown-target',
    asked: 'qwne',
    nearest: ['qwen'],
  });
  assert.deepEqual(fixture.edge.start(intent('qwen3'), silent), {
    kind: 'unknown-target',
    asked: 'qwen3',
    nearest: ['qwen'],
  });
});

test('a known name without a Node up is no-node, with the reason', () => {
  const fixture = setUp();
  const before = fixture.edge.start(intent('qwen'), silent);
  assert.equal(before.kind, 'no-node');
  assert.match(
    before.kind === 'no-node' ? before.detail : '',
    /no Node has linked that adapter vllm is meant for/,
  );
  fixture.linkNode('gpu-1', fixture.both);
  fixture.cut('gpu-1');
  fixture.clock.advance(3000);
  for (const name of ['qwen', 'x/y']) {
    const away = fixture.edge.start(intent(name), silent);
    assert.match(away.kind === 'no-node' ? away.detail : away.kind, /Node gpu-1 is away since 3 s/, name);
    assert.equal(fixture.edge.model(name)?.available, false);
  }
});

test('an adapter that is not healthy takes no runs and says why', () => {
  const fixture = setUp();
  const detail = 'ECONNREFUSED 127.0.0.1:8000';
  fixture.linkNode('gpu-1', { capabilities: [{ ...fixture.qwen, healthy: false, detail }] });
  const outcome = fixture.edge.start(intent('qwen'), silent);
  assert.match(outcome.kind === 'no-node' ? outcome.detail : outcome.kind, /ECONNREFUSED 127.0.0.1:8000/);
});

test('labels select Nodes; a Node that is not meant gets no runs even if it offers the adapter', () => {
  const fixture = setUp();
  const stranger = fixture.linkNode('stranger', fixture.both);
  assert.equal(fixture.edge.start(intent('qwen'), silent).kind, 'no-node');
  const names = (node: typeof stranger) =>
    node
      .askedFor('configure')
      .at(-1)
      ?.config.adapters.map((adapter) => adapter.name);
  assert.deepEqual(names(stranger), ['mock']);
  const labelled = fixture.linkNode('labelled', { ...fixture.both, labels: { zone: 'a' } });
  assert.deepEqual(names(labelled), ['mock', 'vllm']);
  assert.equal(placeOf(fixture, 'qwen'), 'labelled vllm Qwen/Qwen3-8B');
});

test('a dialect that no adapter of the name speaks is said to be unsupported', () => {
  const fixture = setUp();
  fixture.linkNode('a');
  const outcome = fixture.edge.start({ ...intent('echo'), dialect: 'openai.embeddings' }, silent);
  assert.deepEqual(outcome, { kind: 'unsupported-dialect', asked: 'echo', dialect: 'openai.embeddings' });
});

test('after a start, a name that nobody knows yet may be one of a Node on its way back', () => {
  const { edge, linkNode, clock } = createEdgeFixture(settingsOf(), ['gpu-1']);
  const outcome = edge.start(intent('llama'), silent);
  assert.match(outcome.kind === 'no-node' ? outcome.detail : outcome.kind, /waits for Nodes: gpu-1/);
  linkNode('gpu-1');
  assert.equal(edge.start(intent('llama'), silent).kind, 'unknown-target');
  const late = createEdgeFixture(settingsOf(), ['gone']);
  late.clock.advance(31_000);
  assert.equal(late.edge.start(intent('llama'), silent).kind, 'unknown-target');
  clock.settle();
});

test('changed settings reach every Node and take effect for new runs', () => {
  const fixture = setUp();
  const node = fixture.linkNode('gpu-1', fixture.both);
  fixture.edge.configure(settingsOf({ revision: 2, adapters: [mockAdapter] }));
  fixture.clock.settle();
  assert.equal(node.askedFor('configure').at(-1)?.config.revision, 2);
  assert.equal(fixture.edge.start(intent('x/y'), silent).kind, 'unknown-target');
  assert.equal(placeOf(fixture, 'echo'), 'gpu-1 mock echo', 'the Node goes on with what it has');
});
