import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from '../ports/run-records.ts';
import { createRun, nextTurn, openCursor } from '../testing/cursor-fixture.ts';
import { codeOf, createEdgeFixture, type EdgeFixture, settingsOf } from '../testing/edge-fixture.ts';
import { completed, heldOf } from '../testing/fake-node.ts';

interface Left {
  receivedSeq?: number;
  record?: Partial<RunRecord>;
}

/** Another process of the Edge, on what the first one has left of that run. */
async function restart(before: EdgeFixture, runId: string, left: Left = {}): Promise<EdgeFixture> {
  const record = await before.records.find(runId);
  const order = await before.orders.find(runId);
  assert.ok(record !== undefined && order !== undefined);
  const { receivedSeq = 0 } = left;
  const lastPos = before.log.of(runId).length;
  const restored = [{ record: { ...record, ...left.record }, order, lastPos, receivedSeq }];
  const limits = { detachedLostAfterMs: 60_000 };
  return createEdgeFixture(settingsOf({}, limits), ['a'], { ...before, restored });
}

test('a run that a Node still executes is taken up where the log ends', async () => {
  const before = createEdgeFixture();
  const node = before.linkNode('a');
  const id = await createRun(before.edge);
  node.last().say('one', ' two');
  await nextTurn();
  const after = await restart(before, id, { receivedSeq: 2 });
  assert.equal(after.edge.runState(id), 'unknown');
  const view = await openCursor(after.edge, id);
  const again = after.linkNode('a', { inventory: [heldOf(node.last())] });
  assert.deepEqual(again.askedFor('adopt'), [{ kind: 'adopt', runId: id, attempt: 1, receivedSeq: 2 }]);
  assert.equal(again.askedFor('resume').at(-1)?.answers[0]?.kind, 'resume');
  again.last().say(' three');
  again.last().end(completed);
  await nextTurn();
  assert.equal(view.text, 'one two three');
  assert.equal(view.events.at(-1)?.kind, 'end');
  assert.equal(after.edge.gauges().runsActive, 0);
});

test('a run that its Node does not know any more is lost, unless it never arrived there', async () => {
  for (const committed of [true, false]) {
    const before = createEdgeFixture();
    const node = before.linkNode('a');
    const id = await createRun(before.edge);
    if (committed) node.last().say('one');
    await nextTurn();
    const after = await restart(before, id, { receivedSeq: committed ? 1 : 0 });
    const again = after.linkNode('a');
    await nextTurn();
    after.clock.settle();
    await nextTurn();
    const record = await after.edge.findRun({ runId: id });
    if (committed) assert.equal(codeOf(record?.end), 'node.lost');
    else assert.equal(again.askedFor('dispatch')[0]?.order.attempt, 2, 'the same process has never seen it');
  }
});

test('another process of the Node that does not know the run has lost it, started or not', async () => {
  const before = createEdgeFixture();
  before.linkNode('a');
  const id = await createRun(before.edge);
  const after = await restart(before, id);
  after.linkNode('a', { instance: 'two' });
  await nextTurn();
  assert.equal(codeOf((await after.edge.findRun({ runId: id }))?.end), 'node.lost');
});

test('a run that waited for a place waits again, before those that come after the restart', async () => {
  const before = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  const node = before.linkNode('a');
  before.start();
  const id = await createRun(before.edge);
  assert.equal(node.given.length, 1);
  const after = await restart(before, id);
  assert.equal(after.edge.runState(id), 'queued');
  const again = after.linkNode('a');
  await nextTurn();
  assert.equal(again.last().order.runId, id);
  assert.equal(again.last().order.attempt, 1);
  assert.equal(new TextDecoder().decode(again.last().order.body), '{"model":"echo","messages":[]}');
});

test('a cancel that was committed before the restart reaches the Node after it', async () => {
  const before = createEdgeFixture();
  const node = before.linkNode('a');
  const id = await createRun(before.edge);
  node.last().say('one');
  await before.edge.cancelRun({ runId: id }, 'operator');
  const after = await restart(before, id, { receivedSeq: 1 });
  assert.equal(after.edge.runState(id), 'stopping');
  const again = after.linkNode('a', { inventory: [heldOf(node.last())] });
  assert.equal(again.askedFor('cancel').at(-1)?.by, 'operator');
  again.last().end({ kind: 'cancelled', by: 'operator' });
  await nextTurn();
  assert.equal((await after.edge.findRun({ runId: id }))?.state, 'cancelled');
});

test('a Node that does not come back within lost_after has lost the run', async () => {
  const before = createEdgeFixture();
  before.linkNode('a');
  const id = await createRun(before.edge);
  const after = await restart(before, id);
  after.clock.advance(59_000);
  assert.equal(after.edge.runState(id), 'unknown');
  after.clock.advance(1000);
  await nextTurn();
  assert.equal(codeOf((await after.edge.findRun({ runId: id }))?.end), 'node.lost');
});

test('F21: the deadline of a run goes on over a restart, whatever the wall clock did', async () => {
  for (const skewMs of [0, -7_200_000, 7_200_000]) {
    const before = createEdgeFixture();
    before.linkNode('a');
    const id = await createRun(before.edge, { deadlineMs: 10_000 });
    const createdAtMs = before.clock.wall() + skewMs;
    const after = await restart(before, id, { record: { createdAtMs } });
    after.linkNode('a', { instance: 'one' });
    after.clock.advance(10_000);
    await nextTurn();
    assert.ok(
      ['cancelled', 'failed', 'stopping'].includes((await after.edge.findRun({ runId: id }))?.state ?? ''),
    );
  }
});

test('a place that a restored run holds is given back once', async () => {
  const before = createEdgeFixture();
  const node = before.linkNode('a');
  const id = await createRun(before.edge);
  node.last().say('one');
  await nextTurn();
  const after = await restart(before, id, { receivedSeq: 1 });
  const again = after.linkNode('a', { inventory: [heldOf(node.last())] });
  assert.equal(after.edge.listNodes()[0]?.running, 1);
  again.last().end(completed);
  await nextTurn();
  assert.equal(after.edge.listNodes()[0]?.running, 0);
});
