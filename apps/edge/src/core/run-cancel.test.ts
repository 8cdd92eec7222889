import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, createEdgeFixture, settingsOf } from '../testing/edge-fixture.ts';
import { completed, heldOf } from '../testing/fake-node.ts';

const cancelled = { kind: 'cancelled', by: 'caller' } as const;

test('E9: a cancelled run is stopping until its Node says that it stopped', async () => {
  for (const phase of ['dispatched', 'accepted', 'streaming'] as const) {
    const { edge, linkNode, start } = createEdgeFixture();
    const node = linkNode('a');
    const run = start();
    if (phase !== 'dispatched') node.last().accept();
    if (phase === 'streaming') node.last().say('some');
    run.cancel('caller');
    assert.deepEqual(node.askedFor('cancel'), [{ kind: 'cancel', runId: run.id, attempt: 1, by: 'caller' }]);
    assert.equal(run.end, undefined);
    const [record] = await edge.listRuns({ limit: 1, states: [], before: undefined });
    assert.equal(record?.state, 'stopping', phase);
    node.last().end(cancelled);
    assert.deepEqual(run.end, cancelled);
    assert.equal(edge.listNodes()[0]?.running, 0, 'the place is free');
  }
});

test('a cancel takes effect once; the first cause counts', () => {
  const { linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  run.cancel('operator');
  run.cancel('caller');
  assert.deepEqual(
    node.askedFor('cancel').map((each) => each.by),
    ['operator'],
  );
  node.last().end(cancelled);
  run.cancel('caller');
  assert.equal(run.seen.filter((each) => each.kind === 'end').length, 1);
});

test('a cancelled run gives its whole window back, so that its end can follow what nobody reads', () => {
  const { linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  node.last().say('x'.repeat(84));
  run.consumed(10);
  run.cancel('caller');
  node.last().say('x'.repeat(34));
  run.consumed(90);
  assert.deepEqual(
    node.askedFor('consumed').map((each) => each.sizeBytes),
    [10, 90, 50],
  );
});

test('a completion that crosses the cancel is the end', () => {
  const { linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  run.cancel('caller');
  node.last().end(completed);
  assert.equal(run.end?.kind, 'completed');
});

test('a failure of a run that is being stopped is not retried', () => {
  const { linkNode, start } = createEdgeFixture();
  const nodes = new Map(['a', 'b'].map((name) => [name, linkNode(name)]));
  const run = start();
  run.cancel('caller');
  const failure = { kind: 'unavailable', code: 'x', message: '', details: {}, retryable: true } as const;
  nodes
    .get(run.places[0]?.node ?? '')
    ?.last()
    .end({ kind: 'failed', failure });
  assert.equal(run.end?.kind, 'failed');
  assert.equal(run.places.length, 1);
});

test('E9: a stop that the Node never confirms ends as failed, not as cancelled', () => {
  const { clock, edge, linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  run.cancel('caller');
  clock.advance(9_999);
  assert.equal(run.end, undefined);
  clock.advance(1);
  assert.equal(codeOf(run.end), 'node.stop-unconfirmed');
  assert.equal(node.askedFor('forget').length, 1);
  assert.equal(edge.listNodes()[0]?.running, 0);
  assert.equal(clock.pending, 0);
});

test('a deadline cancels a running run and one in line', () => {
  const { clock, linkNode, start } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const node = linkNode('a');
  const running = start({ deadlineMs: 1000 });
  const queued = start({ deadlineMs: 500 });
  clock.advance(500);
  assert.deepEqual(queued.end, { kind: 'cancelled', by: 'deadline' });
  clock.advance(500);
  assert.equal(node.askedFor('cancel')[0]?.by, 'deadline');
  node.last().end({ kind: 'cancelled', by: 'deadline' });
  assert.deepEqual(running.end, { kind: 'cancelled', by: 'deadline' });
  assert.equal(clock.pending, 0, 'no timer is left');
});

test('a run that ends before its deadline leaves no timer behind', () => {
  const { clock, linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  start({ deadlineMs: 1000 });
  node.last().end(completed);
  assert.equal(clock.pending, 0);
});

test('the default deadline of the Edge holds for runs that bring none', () => {
  const { clock, linkNode, start } = createEdgeFixture(settingsOf({}, { runDeadlineMs: 100 }));
  const node = linkNode('a');
  start();
  clock.advance(100);
  assert.equal(node.askedFor('cancel')[0]?.by, 'deadline');
});

test('a run cancelled while its Node is away is stopped when the Node is back', () => {
  const { clock, linkNode, start, cut } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  const attempt = node.last();
  attempt.say('some');
  cut('a');
  run.cancel('caller');
  clock.advance(1000);
  linkNode('a', { inventory: [heldOf(attempt)] });
  assert.equal(node.askedFor('cancel').length, 2, 'asked again on the new link');
  assert.equal(node.askedFor('resume').at(-1)?.answers[0]?.kind, 'resume');
  attempt.end(cancelled);
  assert.deepEqual(run.end, cancelled);
});

test('a run cancelled while its Node is away does not move to another one', () => {
  const { clock, linkNode, start, cut } = createEdgeFixture();
  linkNode('a');
  const run = start();
  linkNode('b');
  cut('a');
  run.cancel('caller');
  clock.advance(60_000);
  assert.equal(run.places.length, 1);
  assert.equal(codeOf(run.end), 'node.stop-unconfirmed');
});

test('E9: a run being stopped whose Node was restarted is cancelled: no process is left', () => {
  const { linkNode, start, cut } = createEdgeFixture();
  linkNode('a');
  const run = start();
  run.cancel('caller');
  cut('a');
  linkNode('a', { instance: 'two' });
  assert.deepEqual(run.end, cancelled);
});

test('an operator cancels by id: live, ended and unknown runs are told apart', async () => {
  const { edge, linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  assert.deepEqual(await edge.cancelRun({ runId: run.id }, 'operator'), { kind: 'taken', state: 'stopping' });
  node.last().end({ kind: 'cancelled', by: 'operator' });
  assert.deepEqual(await edge.cancelRun({ runId: run.id }, 'operator'), {
    kind: 'already-ended',
    state: 'cancelled',
  });
  assert.deepEqual(await edge.cancelRun({ runId: 'run_none' }, 'operator'), { kind: 'unknown-run' });
});

test('an owner may cancel another run from inside a callback', () => {
  const { linkNode, start, edge } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const node = linkNode('a');
  start();
  const victim = start();
  const reader = {
    dispatched() {},
    events() {},
    end() {
      victim.cancel('caller');
    },
  };
  const outcome = edge.start(
    {
      door: 'openai',
      keyId: 'k',
      select: { kind: 'model', model: 'echo' },
      dialect: 'openai.chat',
      body: new Uint8Array(),
      stream: false,
      includeUsage: false,
      deadlineMs: 10,
    },
    reader,
  );
  assert.equal(outcome.kind, 'accepted');
  node.last().end(completed);
  assert.equal(victim.places.length, 1);
  node.last().end(completed);
  assert.equal(victim.end?.kind, 'completed');
  node.last().end(completed);
});
