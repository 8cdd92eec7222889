import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyPolicy } from '../ports/key-store.ts';
import { codeOf, createEdgeFixture, mockAdapter, settingsOf } from '../testing/edge-fixture.ts';
import { completed, mockCapabilities } from '../testing/fake-node.ts';

const silent = { dispatched() {}, events() {}, end() {} };
const open: KeyPolicy = { targets: [], concurrency: 0, rate: undefined, expiresAtMs: undefined };
const perMinute = (runs: number, burst = runs) => ({ rate: { runs, perMs: 60_000, burst } });

async function setUp(policy: Partial<KeyPolicy>, limits: Parameters<typeof settingsOf>[1] = {}) {
  const fixture = createEdgeFixture(settingsOf({}, limits));
  const { key, secret } = await fixture.edge.createKey('laptop', { ...open, ...policy });
  const intent = (over = {}) =>
    ({
      door: 'openai',
      keyId: key.id,
      select: { kind: 'model', model: 'echo' },
      dialect: 'openai.chat',
      body: new Uint8Array(),
      stream: false,
      includeUsage: false,
      ...over,
    }) as const;
  const ask = (over = {}) => fixture.edge.start(intent(over), silent);
  const start = (over = {}) => fixture.start({ ...intent(), ...over });
  return { ...fixture, key, secret, ask, start };
}

test('a key over its rate is refused with the time until there is a run again', async () => {
  const { ask, clock, linkNode, start } = await setUp(perMinute(6, 2));
  linkNode('a');
  start();
  start();
  const refused = ask();
  assert.deepEqual(refused, {
    kind: 'key-rate',
    keyId: refused.kind === 'key-rate' && refused.keyId,
    limit: '6 runs a minute',
    retryAfterMs: 10_000,
  });
  clock.advance(9_999);
  assert.equal(ask().kind, 'key-rate');
  clock.advance(1);
  assert.equal(ask().kind, 'accepted');
  assert.equal(ask().kind, 'key-rate');
  clock.advance(3_600_000);
  assert.deepEqual(
    [ask().kind, ask().kind, ask().kind],
    ['accepted', 'accepted', 'key-rate'],
    'never more than the burst',
  );
});

test('a run that is refused for something else costs nothing of the rate', async () => {
  const { ask, linkNode } = await setUp(perMinute(1));
  assert.equal(ask({ select: { kind: 'model', model: 'nothing' } }).kind, 'unknown-target');
  linkNode('a');
  assert.equal(ask({ dialect: 'openai.embeddings' }).kind, 'unsupported-dialect');
  assert.equal(ask().kind, 'accepted');
});

test('a key over its concurrency waits in the queue, and goes when one of its runs ends', async () => {
  const { edge, linkNode, start } = await setUp({ concurrency: 1 });
  const node = linkNode('a');
  const first = start();
  const second = start();
  assert.deepEqual([first.places.length, second.places.length], [1, 0]);
  assert.equal(edge.gauges().runsQueued, 1);
  node.given[0]?.end(completed);
  assert.equal(second.places.length, 1, 'in the same tick');
  node.given[1]?.end(completed);
  assert.equal(edge.gauges().runsQueued, 0);
});

test('a key over its concurrency is refused with Retry-After when it may not wait', async () => {
  for (const limits of [{ queue: 0 }, { queueWaitMs: 0 }]) {
    const { ask, key, linkNode, start } = await setUp({ concurrency: 1 }, limits);
    linkNode('a');
    start();
    assert.deepEqual(ask(), { kind: 'key-busy', keyId: key.id, limit: 1, retryAfterMs: 1000 });
  }
});

test('a run that waits for its key fails when the time of the queue is over', async () => {
  const { clock, linkNode, start } = await setUp({ concurrency: 1 }, { queueWaitMs: 500 });
  linkNode('a');
  start();
  const waiter = start();
  clock.advance(500);
  assert.equal(codeOf(waiter.end), 'queue.timeout');
  assert.match(
    waiter.end?.kind === 'failed' ? waiter.end.failure.message : '',
    /the API key key\w+ had as many runs/,
  );
});

test('E17: a run that waits for its key holds up nobody else who wants the same', async () => {
  const fixture = await setUp({ concurrency: 1 }, { nodeConcurrency: 2 });
  const node = fixture.linkNode('a');
  fixture.start();
  const blocked = fixture.start();
  const other = fixture.start({ keyId: 'other' });
  assert.deepEqual([blocked.places.length, other.places.length], [0, 1], 'a free place is taken at once');
  const waits = fixture.start({ keyId: 'other' });
  node.given[1]?.end(completed);
  assert.deepEqual([blocked.places.length, waits.places.length], [0, 1], 'and from behind in the line');
});

test('E4: of those who wait the oldest goes, also when it waited for its key', async () => {
  const { linkNode, start } = await setUp({ concurrency: 1 }, { nodeConcurrency: 1 });
  const node = linkNode('a');
  start();
  const older = start();
  const younger = start({ keyId: 'other' });
  node.given[0]?.end(completed);
  assert.deepEqual([older.places.length, younger.places.length], [1, 0]);
});

test('E16: a run that goes to another Node keeps its one place of the key', async () => {
  const { edge, key, linkNode, start, clock, cut } = await setUp({ concurrency: 1 });
  const nodes = [linkNode('a'), linkNode('b')];
  const run = start();
  const waiter = start();
  cut(run.places[0]?.node ?? '');
  clock.advance(300);
  assert.equal(run.places.length, 2);
  assert.deepEqual([waiter.places.length, edge.keyStanding(key).running], [0, 1]);
  for (const node of nodes) node.given.find((each) => each.order.attempt === 2)?.end(completed);
  assert.deepEqual([waiter.places.length, edge.keyStanding(key).running], [1, 1]);
});

/** A run of the key that has failed on one Node and waits for the other, and one more of the key behind it. */
async function setUpRetry() {
  const fixture = await setUp({ concurrency: 1 }, { nodeConcurrency: 1 });
  const nodes = [fixture.linkNode('a'), fixture.linkNode('b')];
  fixture.start({ keyId: 'other' });
  const run = fixture.start();
  const waiter = fixture.start();
  const failure = { kind: 'unavailable', code: 'upstream.status', message: 'no', details: {} } as const;
  const at = (name: string | undefined) => nodes.find((node) => node.name === name)?.last();
  at(run.places[0]?.node)?.end({ kind: 'failed', failure: { ...failure, retryable: true } });
  const other = nodes.find((node) => node.name !== run.places[0]?.node)?.last();
  assert.deepEqual([run.places.length, run.end, waiter.places.length], [1, undefined, 0]);
  return { ...fixture, run, waiter, other };
}

test('E16: a run that waits for another attempt has its place of the key, and needs no second one', async () => {
  const { other, run, waiter } = await setUpRetry();
  other?.end(completed);
  assert.deepEqual([run.places.length, waiter.places.length], [2, 0]);
});

test('E3, E16: when such a run leaves the line, whoever waited for its key goes at once', async () => {
  const { run, waiter } = await setUpRetry();
  run.cancel('caller');
  assert.equal(waiter.places.length, 1);
});

test('changed limits count for those in line at once, and for what ran before them', async () => {
  const { ask, edge, key, linkNode, start } = await setUp({});
  linkNode('a');
  const runs = [start(), start(), start()];
  await edge.setKey(key.id, { name: undefined, policy: { ...open, concurrency: 3 } });
  const waiter = start();
  assert.equal(waiter.places.length, 0, 'three run already');
  await edge.setKey(key.id, { name: undefined, policy: { ...open, concurrency: 4 } });
  assert.equal(waiter.places.length, 1);
  await edge.setKey(key.id, { name: undefined, policy: undefined });
  assert.equal(ask().kind, 'accepted');
  assert.ok(runs.every((run) => run.end === undefined));
});

test('a key may use what its policy names: by public name, by adapter, by glob', async () => {
  const two = { capabilities: [mockCapabilities({ targets: [{ name: 'echo' }, { name: 'slow' }] })] };
  const cases: [string[], Record<string, string>][] = [
    [
      ['echo'],
      { echo: 'accepted', 'mock/echo': 'accepted', slow: 'forbidden-target', best: 'forbidden-target' },
    ],
    [['mock/*'], { echo: 'accepted', slow: 'accepted', best: 'accepted', nope: 'unknown-target' }],
    [['mock/slow'], { echo: 'forbidden-target', slow: 'accepted', 'mock/slow': 'accepted' }],
    [['best'], { best: 'accepted', echo: 'forbidden-target' }],
    [['e*o', 's*'], { echo: 'accepted', slow: 'accepted', best: 'accepted' }],
  ];
  for (const [targets, wanted] of cases) {
    const { ask, edge, key, linkNode } = await setUp({ targets });
    const route = (name: string) => [{ name, weight: undefined }];
    const best = { kind: 'alias', name: 'best', tiers: [route('slow'), route('echo')] } as const;
    edge.configure(settingsOf({ adapters: [mockAdapter], models: [best] }));
    linkNode('a', two);
    for (const [model, kind] of Object.entries(wanted)) {
      assert.equal(ask({ select: { kind: 'model', model } }).kind, kind, `${targets} ${model}`);
    }
    const listed = edge.models(key.id).map((model) => model.name);
    for (const name of ['echo', 'slow', 'best']) {
      assert.equal(listed.includes(name), wanted[name] === 'accepted', `${targets} lists ${name}`);
      assert.equal(edge.model(name, key.id) !== undefined, listed.includes(name));
    }
  }
});

test('E21: a name that appears while a run is on its way in is judged as well', async () => {
  const { ask, linkNode } = await setUp({ targets: ['other'] });
  linkNode('a', { settle: false });
  assert.equal(ask().kind, 'forbidden-target');
});

test('a key that may use little is not told what else there is', async () => {
  const { ask, linkNode } = await setUp({ targets: ['eco'] });
  linkNode('a');
  assert.deepEqual(ask({ select: { kind: 'model', model: 'ech' } }), {
    kind: 'unknown-target',
    asked: 'ech',
    nearest: [],
  });
});

test('an operator is held to no key, whatever its name', async () => {
  const { ask, linkNode } = await setUp({ targets: ['other'], ...perMinute(1) });
  linkNode('a');
  const select = { kind: 'target', adapter: 'mock', target: 'echo' };
  assert.deepEqual(
    [ask({ door: 'native', select }).kind, ask({ door: 'native', select }).kind],
    ['accepted', 'accepted'],
  );
});

test('a key expires at its moment; what runs goes on', async () => {
  const { clock, edge, linkNode, secret, start } = await setUp({ expiresAtMs: 1_000_000 + 5000 });
  const node = linkNode('a');
  const run = start();
  assert.equal(edge.checkKey(secret).kind, 'valid');
  clock.advance(5000);
  const check = edge.checkKey(secret);
  assert.deepEqual([check.kind, check.kind === 'expired' && check.expiresAtMs], ['expired', 1_005_000]);
  node.last().end(completed);
  assert.equal(run.end?.kind, 'completed');
});

test('limits that make no sense are refused with what was expected', async () => {
  const { edge } = await setUp({});
  const wrong: Partial<KeyPolicy>[] = [
    { concurrency: -1 },
    { concurrency: 1.5 },
    { targets: [''] },
    { targets: ['x'.repeat(257)] },
    { rate: { runs: 0, perMs: 60_000, burst: 1 } },
    { rate: { runs: 1, perMs: 1, burst: 1 } },
  ];
  for (const policy of wrong) {
    await assert.rejects(edge.createKey('k', { ...open, ...policy }), { code: 'key.policy-invalid' });
  }
  assert.equal(edge.listKeys().length, 1);
});
