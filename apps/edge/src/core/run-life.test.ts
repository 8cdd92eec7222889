import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, createEdgeFixture, settingsOf } from '../testing/edge-fixture.ts';
import { completed, mockCapabilities, rawEvent } from '../testing/fake-node.ts';
import { openRecords } from '../testing/memory-stores.ts';

const failed = (retryable: boolean, code = 'upstream.refused') =>
  ({
    kind: 'failed',
    failure: { kind: 'unavailable', code, message: 'refused', details: {}, retryable },
  }) as const;

test('a run is dispatched at once, streams in order, and ends once', () => {
  const { linkNode, start, records, edge } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  assert.deepEqual(run.places, [
    { node: 'a', adapter: 'mock', target: 'echo', attempt: 1, route: 'only candidate' },
  ]);
  node.last().accept();
  node.last().say('one ', 'two ');
  node.last().say('three');
  node.last().end({ ...completed, usage: { promptTokens: 1, completionTokens: 3, estimated: false } });
  assert.equal(run.text, 'one two three');
  assert.deepEqual(
    run.seen.map((each) => each.kind),
    ['dispatched', 'events', 'events', 'end'],
  );
  const record = records.saved.at(-1);
  assert.equal(record?.state, 'completed');
  assert.deepEqual(record?.end, run.end);
  assert.deepEqual(openRecords(records), []);
  assert.equal(edge.gauges().runsActive, 0);
});

test('the order carries what the caller asked and the rest of the deadline', () => {
  const { clock, linkNode, start } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const node = linkNode('a');
  const first = start();
  start({ deadlineMs: 5000, stream: false, includeUsage: true });
  clock.advance(2000);
  node.last().end(completed);
  assert.equal(first.end?.kind, 'completed');
  const { order } = node.last();
  assert.equal(order.deadlineMs, 3000);
  assert.deepEqual(
    [order.stream, order.includeUsage, order.attempt, order.configRevision],
    [false, true, 1, 1],
  );
  assert.equal(new TextDecoder().decode(order.body), '{"model":"echo","messages":[]}');
});

test('E10: what the owner passes on is told to the link, never more than it got', () => {
  const { linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  node.last().say('x'.repeat(84));
  run.consumed(60);
  run.consumed(60);
  run.consumed(60);
  assert.deepEqual(
    node.askedFor('consumed').map((each) => each.sizeBytes),
    [60, 40],
  );
});

test('E6: a retryable failure before content goes to another Node as the next attempt', () => {
  const { linkNode, start, records } = createEdgeFixture();
  const a = linkNode('a');
  const b = linkNode('b');
  const run = start();
  const [bad, good] = run.places[0]?.node === 'a' ? [a, b] : [b, a];
  bad.last().emit({ kind: 'progress', message: 'loading' });
  bad.last().end(failed(true));
  assert.deepEqual(
    run.places.map((place) => place.attempt),
    [1, 2],
  );
  good.last().say('hello');
  good.last().end(completed);
  assert.equal(run.text, 'hello');
  assert.equal(records.saved.at(-1)?.attempts, 2);
});

test('E6: after content the failure is the end', () => {
  const { linkNode, start } = createEdgeFixture();
  const nodes = new Map(['a', 'b'].map((name) => [name, linkNode(name)]));
  const run = start();
  const attempt = nodes.get(run.places[0]?.node ?? '')?.last();
  attempt?.say('half an ');
  attempt?.end(failed(true, 'upstream.cut'));
  assert.equal(run.places.length, 1);
  assert.equal(codeOf(run.end), 'upstream.cut');
});

test('a failure that is not retryable, or has no other Node, is the end', () => {
  const { linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  const alone = start();
  a.last().end(failed(true));
  assert.equal(alone.end?.kind, 'failed');
  linkNode('b');
  const run = start();
  assert.equal(run.places[0]?.node, 'b');
  run.cancel('caller');
  const fresh = start();
  assert.equal(fresh.places[0]?.node, 'a');
  a.last().end(failed(false));
  assert.equal(fresh.end?.kind, 'failed');
});

test('a run is tried three times at most', () => {
  const { linkNode, start } = createEdgeFixture();
  const nodes = new Map(['a', 'b', 'c', 'd'].map((name) => [name, linkNode(name)]));
  const run = start();
  for (let i = 0; i < 3; i++)
    nodes
      .get(run.places[i]?.node ?? '')
      ?.last()
      .end(failed(true));
  assert.equal(run.places.length, 3);
  assert.equal(new Set(run.places.map((place) => place.node)).size, 3);
  assert.equal(run.end?.kind, 'failed');
});

test('the retry boundary of the adapter is kept', () => {
  for (const [retry, accepted, attempts] of [
    ['before-content', true, 2],
    ['before-start', false, 2],
    ['before-start', true, 2],
    ['never', false, 1],
    ['never', true, 1],
  ] as const) {
    const { linkNode, start } = createEdgeFixture();
    const options = { capabilities: [mockCapabilities({ retry })] };
    const nodes = new Map(['a', 'b'].map((name) => [name, linkNode(name, options)]));
    const run = start();
    const attempt = nodes.get(run.places[0]?.node ?? '')?.last();
    if (accepted) attempt?.accept();
    attempt?.end(failed(true));
    assert.equal(run.places.length, attempts, `${retry}, ${accepted ? 'accepted' : 'not accepted'}`);
  }
});

test('a retry whose only other Node is busy waits in front of those who came later', () => {
  const { linkNode, start } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const nodes = new Map(['a', 'b'].map((name) => [name, linkNode(name)]));
  const first = start();
  const second = start();
  const later = start();
  const bad = nodes.get(first.places[0]?.node ?? '');
  const busy = nodes.get(second.places[0]?.node ?? '');
  bad?.last().end(failed(true));
  assert.equal(later.places[0]?.node, bad?.name, 'its place went to the waiter');
  assert.equal(first.places.length, 1);
  const last = start();
  busy?.last().end(completed);
  assert.equal(first.places[1]?.node, busy?.name);
  assert.equal(last.places.length, 0);
});

test('E7: what an attempt says after its end reaches nobody', () => {
  const { edge, linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  linkNode('b');
  const run = start();
  const stale = a.last();
  stale.end(failed(true));
  assert.equal(run.places[1]?.node, 'b');
  stale.say('ghost');
  stale.accept();
  stale.end(completed);
  assert.equal(run.text, '');
  assert.equal(run.end, undefined);
  assert.equal(edge.counters.stale, 3);
});

test('a batch that cannot be used ends the attempt, and elsewhere before content', () => {
  const { linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  const alone = start();
  a.last().say('half');
  a.last().sink.broken('event.gap', 'seq 3 is missing');
  assert.equal(codeOf(alone.end), 'event.gap');
  assert.equal(a.askedFor('cancel')[0]?.by, 'superseded');
  const b = linkNode('b');
  const run = start();
  b.last().sink.broken('event.gap', 'seq 3 is missing');
  assert.equal(run.places[1]?.node, 'a');
});

test('waiting is shown, closes the way back, and is left again', async () => {
  const { edge, linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  linkNode('b');
  const run = start();
  const stateOf = async () => (await edge.listRuns({ limit: 1, states: [], before: undefined }))[0]?.state;
  assert.equal(await stateOf(), 'starting');
  a.last().sink.stateChanged('running');
  assert.equal(await stateOf(), 'starting', 'running means that content was accepted');
  a.last().sink.stateChanged('waiting');
  assert.equal(await stateOf(), 'waiting');
  a.last().sink.stateChanged('running');
  assert.equal(await stateOf(), 'running');
  a.last().end(failed(true));
  assert.equal(run.places.length, 1);
});

test('the last usage that was seen belongs to the end, unless the end has its own', () => {
  const { linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  const usage = { promptTokens: 7, completionTokens: 2, estimated: true };
  const run = start();
  a.last().emit(rawEvent('x'), { kind: 'usage', usage });
  a.last().end(failed(false));
  assert.deepEqual(run.end?.usage, usage);
});

test('live runs are listed from memory and ended ones from the store, newest first', async () => {
  const { edge, linkNode, start } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 2 }));
  const a = linkNode('a');
  const ended = start();
  a.last().end(completed);
  const live = start();
  start();
  const queued = start();
  const list = (over: object) => edge.listRuns({ limit: 10, states: [], before: undefined, ...over });
  const all = await list({});
  assert.deepEqual(
    all.map((record) => record.state),
    ['queued', 'starting', 'starting', 'completed'],
  );
  assert.deepEqual(
    (await list({ states: ['queued'] })).map((record) => record.runId),
    [queued.id],
  );
  assert.deepEqual(
    (await list({ before: live.id })).map((record) => record.runId),
    [ended.id],
  );
  assert.equal((await list({ limit: 2 })).length, 2);
});

test('a run that ends while the store is read is listed, and once', async () => {
  const { edge, records, linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  const list = records.list;
  for (const endsFirst of [true, false]) {
    const run = start();
    records.list = async (query) => {
      if (endsFirst) a.last().end(completed);
      const stored = await list(query);
      if (!endsFirst) a.last().end(completed);
      return stored;
    };
    const listed = await edge.listRuns({ limit: 10, states: [], before: undefined });
    const states = listed.filter(({ runId }) => runId === run.id).map(({ state }) => state);
    assert.deepEqual(states, ['completed'], endsFirst ? 'before the read' : 'after the read');
  }
});

test('nothing starts while the Edge stops; every run ends with a reason', async () => {
  const { edge, clock, linkNode, start } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 2 }));
  const a = linkNode('a');
  const runs = [start(), start(), start()];
  const [finishes, confirms] = a.given;
  const stopped = edge.stop({ drainMs: 100, confirmMs: 100 });
  assert.deepEqual(runs[2]?.end, { kind: 'cancelled', by: 'shutdown' });
  assert.equal(edge.start({ ...intent }, silent).kind, 'stopping');
  assert.equal(edge.readiness().ready, false);
  finishes?.end(completed);
  clock.advance(100);
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(a.askedFor('cancel')[0]?.by, 'shutdown');
  confirms?.end({ kind: 'cancelled', by: 'shutdown' });
  clock.advance(100);
  await stopped;
  assert.deepEqual(
    runs.map((run) => run.end?.kind),
    ['completed', 'cancelled', 'cancelled'],
  );
});

const silent = { dispatched() {}, events() {}, end() {} };
const intent = {
  door: 'openai',
  keyId: 'k',
  select: { kind: 'model', model: 'echo' },
  dialect: 'openai.chat',
  body: new Uint8Array(),
  stream: false,
  includeUsage: false,
} as const;

test('a run whose Node does not confirm the stop ends all the same when the Edge stops', async () => {
  const { edge, clock, linkNode, start } = createEdgeFixture();
  linkNode('a');
  const run = start();
  const stopped = edge.stop({ drainMs: 0, confirmMs: 50 });
  await Promise.resolve();
  clock.advance(1000);
  await stopped;
  assert.equal(codeOf(run.end), 'edge.stopped');
});
