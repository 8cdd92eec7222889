import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, createEdgeFixture, settingsOf } from '../testing/edge-fixture.ts';
import { completed, heldOf, mockCapabilities } from '../testing/fake-node.ts';

async function stateOf(fixture: ReturnType<typeof createEdgeFixture>) {
  return (await fixture.edge.listRuns({ limit: 1, states: [], before: undefined }))[0]?.state;
}

test('a cut link makes its runs unknown; the owner sees nothing of it when the Node is back in time', async () => {
  const fixture = createEdgeFixture();
  const { clock, linkNode, start, cut } = fixture;
  const node = linkNode('a');
  const run = start();
  const attempt = node.last();
  attempt.say('one ');
  cut('a');
  assert.equal(await stateOf(fixture), 'unknown');
  clock.advance(14_000);
  linkNode('a', { inventory: [heldOf(attempt)] });
  assert.equal(await stateOf(fixture), 'running');
  const answer = node.askedFor('resume').at(-1)?.answers[0];
  assert.equal(answer?.kind, 'resume');
  attempt.say('two');
  attempt.end(completed);
  assert.equal(run.text, 'one two');
  assert.equal(run.end?.kind, 'completed');
  assert.equal(clock.pending, 0);
});

test('a run without content moves to another Node 300 ms after the link was lost', () => {
  const { clock, linkNode, start, cut } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  const b = linkNode('b');
  a.last().accept();
  cut('a');
  clock.advance(299);
  assert.equal(run.places.length, 1);
  clock.advance(1);
  assert.deepEqual(
    run.places.map((place) => `${place.node} ${place.attempt}`),
    ['a 1', 'b 2'],
  );
  assert.equal(clock.pending, 0, 'nobody waits for the Node any more');
  linkNode('a', { inventory: [heldOf(a.last())] });
  assert.deepEqual(a.askedFor('resume').at(-1)?.answers, [{ kind: 'drop', runId: run.id, attempt: 1 }]);
  a.last().say('ghost');
  b.last().say('real');
  b.last().end(completed);
  assert.equal(run.text, 'real');
});

test('a run without content waits for a busy Node, and takes its own back if that is faster', () => {
  const { clock, edge, linkNode, start, cut } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const a = linkNode('a');
  const moved = start();
  const b = linkNode('b');
  const busy = start();
  cut('a');
  clock.advance(300);
  assert.equal(moved.places.length, 1);
  assert.equal(edge.gauges().runsQueued, 1);
  linkNode('a', { inventory: [heldOf(a.last(), { state: 'starting' })] });
  assert.equal(edge.gauges().runsQueued, 0, 'it has its place back');
  b.last().end(completed);
  assert.equal(moved.places.length, 1);
  cut('a');
  start();
  clock.advance(300);
  b.last().end(completed);
  assert.deepEqual(
    moved.places.map((place) => place.node),
    ['a', 'b'],
  );
  assert.equal(busy.end?.kind, 'completed');
});

test('a run with content whose Node stays away is lost after 15 s, and not tried elsewhere', () => {
  const { clock, linkNode, start, cut, edge } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  linkNode('b');
  a.last().say('half');
  cut('a');
  clock.advance(14_999);
  assert.equal(run.end, undefined);
  clock.advance(1);
  assert.equal(codeOf(run.end), 'node.lost');
  assert.equal(run.places.length, 1);
  assert.equal(edge.listNodes()[0]?.running, 0);
  assert.equal(clock.pending, 0);
});

test('a run without content and without another Node is lost after 15 s too', () => {
  const { clock, linkNode, start, cut, edge } = createEdgeFixture();
  linkNode('a');
  const run = start();
  cut('a');
  clock.advance(15_000);
  assert.equal(codeOf(run.end), 'node.lost');
  assert.equal(edge.gauges().runsQueued, 0);
});

test('adapters that may not repeat stay where they are', () => {
  for (const [retry, accepted] of [
    ['before-start', true],
    ['before-start', false],
    ['never', true],
  ] as const) {
    const { clock, linkNode, start, cut } = createEdgeFixture();
    const options = { capabilities: [mockCapabilities({ retry })] };
    const a = linkNode('a', options);
    const run = start();
    linkNode('b', options);
    if (accepted) a.last().accept();
    cut('a');
    clock.advance(1000);
    assert.equal(run.places.length, 1, `${retry}, ${accepted ? 'accepted' : 'not accepted'}`);
  }
});

test('a link that flaps without an inventory does not prolong the wait', () => {
  const { clock, bareLink, linkNode, start, cut } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  a.last().say('half');
  cut('a');
  for (let i = 0; i < 15; i++) {
    clock.advance(999);
    bareLink('a');
    cut('a');
    assert.ok(clock.pending <= 2);
  }
  clock.advance(15);
  assert.equal(codeOf(run.end), 'node.lost');
});

test('another process of the Node loses its runs as soon as it links: with content for good', () => {
  const { bareLink, linkNode, start, cut } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  a.last().say('half');
  cut('a');
  bareLink('a', { instance: 'two' });
  assert.equal(codeOf(run.end), 'node.lost');
});

test('another process of the Node loses its runs as soon as it links: without content they start again, also there', async () => {
  const fixture = createEdgeFixture();
  const { bareLink, linkNode, start, cut } = fixture;
  const a = linkNode('a');
  const run = start();
  cut('a');
  bareLink('a', { instance: 'two' });
  assert.equal(await stateOf(fixture), 'queued');
  linkNode('a', { instance: 'two' });
  assert.deepEqual(
    run.places.map((place) => `${place.node} ${place.attempt}`),
    ['a 1', 'a 2'],
  );
  a.last().end(completed);
  assert.equal(run.end?.kind, 'completed');
});

test('a new process that appears while the old link looks alive loses the runs as well', () => {
  const { bareLink, linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  a.last().say('half');
  bareLink('a', { instance: 'two' });
  assert.equal(codeOf(run.end), 'node.lost');
});

test('a run that the Node forgets in a restart and that finds no place is lost after 15 s', () => {
  const { clock, bareLink, linkNode, start, cut } = createEdgeFixture();
  linkNode('a');
  const run = start();
  cut('a');
  bareLink('a', { instance: 'two' });
  clock.advance(15_000);
  assert.equal(codeOf(run.end), 'node.lost');
});

test('an order that never arrived is dispatched again, whatever the retry boundary', () => {
  const { linkNode, start, cut } = createEdgeFixture();
  const options = { capabilities: [mockCapabilities({ retry: 'never' })] };
  const a = linkNode('a', options);
  const run = start();
  cut('a');
  linkNode('a', { ...options, inventory: [] });
  assert.deepEqual(
    run.places.map((place) => place.attempt),
    [1, 2],
  );
  a.last().end(completed);
  assert.equal(run.end?.kind, 'completed');
});

test('a run that the Node had accepted and does not know any more is lost', () => {
  const { linkNode, start, cut } = createEdgeFixture();
  const options = { capabilities: [mockCapabilities({ retry: 'never' })] };
  const a = linkNode('a', options);
  const run = start();
  a.last().accept();
  cut('a');
  linkNode('a', { ...options, inventory: [] });
  assert.equal(codeOf(run.end), 'node.lost');
});

test('events that are gone for ever end the run as event.gap, and the Node drops it', () => {
  const { linkNode, start, cut } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  a.last().say('one');
  cut('a');
  linkNode('a', { inventory: [heldOf(a.last(), { lastSeq: 9, firstKeptSeq: 5 })] });
  assert.equal(codeOf(run.end), 'event.gap');
  assert.equal(a.askedFor('resume').at(-1)?.answers[0]?.kind, 'drop');
});

test('E12: what an older link still says is ignored', () => {
  const { edge, clock, linkNode, start } = createEdgeFixture();
  const a = linkNode('a');
  linkNode('a', { inventory: [] });
  const run = start();
  edge.nodes.down({ name: 'a', epoch: 1 });
  edge.nodes.draining({ name: 'a', epoch: 1 }, true);
  edge.nodes.capabilities({ name: 'a', epoch: 1 }, []);
  edge.nodes.inventory({ name: 'a', epoch: 1 }, []);
  clock.settle();
  assert.equal(edge.listNodes()[0]?.state, 'ready');
  a.last().end(completed);
  assert.equal(run.end?.kind, 'completed');
});

test('a run that has asked for a permission does not move to another Node', () => {
  const { clock, linkNode, start, cut } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  linkNode('b');
  a.last().sink.stateChanged('waiting');
  cut('a');
  clock.advance(15_000);
  assert.equal(run.places.length, 1);
  assert.equal(codeOf(run.end), 'node.lost');
});

test('a run that waits for a permission is unknown while the link is down, and waits again after it', async () => {
  const fixture = createEdgeFixture();
  const { linkNode, start, cut } = fixture;
  const a = linkNode('a');
  start();
  a.last().sink.stateChanged('waiting');
  cut('a');
  assert.equal(await stateOf(fixture), 'unknown');
  linkNode('a', { inventory: [heldOf(a.last(), { state: 'waiting' })] });
  assert.equal(await stateOf(fixture), 'waiting');
});

test('E10: window that an earlier attempt used is not given to the next one', () => {
  const { clock, linkNode, start, cut } = createEdgeFixture();
  const a = linkNode('a');
  const run = start();
  const b = linkNode('b');
  a.last().sink.events([{ kind: 'progress', message: 'loading' }], 100, 1);
  cut('a');
  clock.advance(300);
  b.last().sink.events([{ kind: 'text', text: 'x' }], 64, 1);
  run.consumed(100);
  assert.deepEqual(b.askedFor('consumed'), []);
  run.consumed(64);
  assert.equal(b.askedFor('consumed')[0]?.sizeBytes, 64);
});
