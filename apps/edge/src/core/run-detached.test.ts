import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRun, nextTurn, openCursor, tryCreate } from '../testing/cursor-fixture.ts';
import { codeOf, createEdgeFixture, settingsOf } from '../testing/edge-fixture.ts';
import { completed, heldOf } from '../testing/fake-node.ts';

const kinds = (events: readonly { kind: string }[]) => events.map((event) => event.kind);
const refused = {
  kind: 'failed',
  failure: { kind: 'unavailable', code: 'upstream.refused', message: 'no', details: {}, retryable: true },
} as const;

test('E25: the record is committed before the run is dispatched, and the attempt before its Node is asked', async () => {
  const { edge, linkNode, orders, records } = createEdgeFixture();
  const node = linkNode('a');
  const creating = tryCreate(edge);
  assert.equal(node.given.length, 0);
  await creating;
  assert.equal(orders.created[0]?.state, 'queued');
  assert.equal(node.given.length, 0, 'the attempt is not committed yet');
  await nextTurn();
  assert.equal(records.saved.at(-1)?.attempts, 1);
  assert.equal(node.last().order.detached, true);
});

test('nothing is started when the disk refuses, and the caller is told', async () => {
  const { edge, linkNode, orders } = createEdgeFixture();
  const node = linkNode('a');
  orders.failing = 'disk full';
  const outcome = await tryCreate(edge);
  assert.deepEqual(outcome, { kind: 'store-unavailable', detail: 'disk full' });
  await nextTurn();
  assert.equal(node.given.length, 0);
  assert.equal(edge.gauges().runsActive, 0);
});

test('E24: acks, credit and everything that is shown of a detached run follow the commit', async () => {
  const { edge, linkNode, log } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  const view = await openCursor(edge, id);
  await nextTurn();
  log.commitsAtOnce = false;
  node.last().say('one', 'two');
  assert.equal(view.text, '', 'after a kill their pos would be given to other events');
  assert.deepEqual(node.askedFor('committed'), []);
  assert.deepEqual(node.askedFor('consumed'), []);
  log.commitAll();
  assert.equal(view.text, 'onetwo');
  assert.deepEqual(
    node.askedFor('committed').map((each) => each.seq),
    [2],
  );
  assert.equal(node.askedFor('consumed')[0]?.sizeBytes, 38);
  node.last().end(completed);
  assert.equal(view.events.at(-1)?.kind, 'raw', 'the end is not committed yet');
  assert.deepEqual(node.askedFor('forget'), []);
  assert.equal(edge.runState(id), 'running');
  log.commitAll();
  assert.deepEqual(kinds(view.events), ['attempt', 'raw', 'raw', 'end']);
  assert.deepEqual(
    node.askedFor('committed').map((each) => each.seq),
    [2, 3],
  );
  assert.equal(node.askedFor('forget').length, 1);
  assert.equal((await edge.findRun({ runId: id }))?.state, 'completed');
});

test('E27: a disconnect does not end a detached run, a cancel does', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  const view = await openCursor(edge, id, { owns: true });
  node.last().say('one');
  view.cursor.close();
  node.last().say('two');
  assert.deepEqual(node.askedFor('cancel'), []);
  const cancelled = await edge.cancelRun({ runId: id }, 'caller');
  assert.deepEqual(cancelled, { kind: 'taken', state: 'stopping' });
  assert.equal(node.askedFor('cancel').length, 1);
  node.last().end({ kind: 'cancelled', by: 'caller' });
  await nextTurn();
  const again = await openCursor(edge, id);
  await nextTurn();
  assert.equal(again.text, 'onetwo');
  assert.deepEqual(again.events.at(-1), { kind: 'end', end: { kind: 'cancelled', by: 'caller' } });
});

test('a detached run that waits in line is cancelled when that is answered', async () => {
  const { edge, linkNode } = createEdgeFixture(settingsOf({}, { nodeConcurrency: 1 }));
  linkNode('a');
  await createRun(edge);
  await nextTurn();
  const id = await createRun(edge);
  assert.equal(edge.runState(id), 'queued');
  const cancelled = await edge.cancelRun({ runId: id }, 'caller');
  assert.deepEqual(cancelled, { kind: 'taken', state: 'cancelled' });
});

test('E23: two cursors see the same events in the same order, one of them from the middle on', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  const first = await openCursor(edge, id);
  await nextTurn();
  node.last().say('a', 'b');
  const second = await openCursor(edge, id, { afterPos: 2 });
  node.last().say('c');
  node.last().end(completed);
  await nextTurn();
  assert.deepEqual(second.events, first.events.slice(2));
  assert.equal(second.text, 'bc');
});

test('K2: a cursor that takes nothing is given one window, and the rest from the log when it reads again', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  const stalled = await openCursor(edge, id, { reads: false });
  await nextTurn();
  for (let i = 0; i < 100; i++) node.last().say('x'.repeat(16_000));
  node.last().end(completed);
  await nextTurn();
  const given = stalled.text.length;
  assert.ok(given >= 256 * 1024 && given < 300 * 1024, `it holds ${given} bytes`);
  for (let i = 0; i < 50; i++) {
    stalled.cursor.consumed(64 * 1024);
    await nextTurn();
  }
  assert.equal(stalled.text.length, 1_600_000);
  assert.equal(stalled.events.at(-1)?.kind, 'end');
});

test('a cursor beyond the newest event waits; beyond the end of an ended run it is an error', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  const early = await openCursor(edge, id, { afterPos: 3 });
  node.last().say('a', 'b', 'c');
  node.last().end(completed);
  await nextTurn();
  assert.deepEqual([early.text, early.lastPos], ['c', 5]);
  const open = (afterPos: number) =>
    edge.open({ runId: id, afterPos, owns: false }, { push() {}, gap() {}, broken() {} });
  assert.deepEqual(await open(6), { kind: 'past-end', lastPos: 5 });
  assert.equal((await open(5)).kind, 'at-end');
});

test('E31: a run of another key looks as if it did not exist, also when it has ended', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  const reader = { push() {}, gap() {}, broken() {} };
  for (const phase of ['live', 'ended']) {
    const ref = { runId: id, keyId: 'other' };
    assert.equal((await edge.open({ ...ref, afterPos: 0, owns: false }, reader)).kind, 'unknown-run', phase);
    assert.equal((await edge.cancelRun(ref, 'caller')).kind, 'unknown-run', phase);
    assert.equal(await edge.findRun(ref), undefined, phase);
    assert.equal(await edge.runOrder(ref), undefined, phase);
    assert.equal((await edge.deleteRun(ref)).kind, 'unknown-run', phase);
    if (phase === 'live') node.last().end(completed);
    await nextTurn();
  }
  assert.equal((await edge.findRun({ runId: id, keyId: 'key' }))?.state, 'completed');
});

test('a detached run outlives its link for as long as lost_after says, an attached one not', async () => {
  const limits = { lostAfterMs: 1000, detachedLostAfterMs: 60_000 };
  const { edge, linkNode, start, cut, clock } = createEdgeFixture(settingsOf({}, limits));
  const node = linkNode('a');
  const attached = start();
  node.last().say('x');
  const id = await createRun(edge);
  node.last().say('one');
  cut('a');
  clock.advance(1000);
  assert.equal(codeOf(attached.end), 'node.lost');
  assert.equal(edge.runState(id), 'unknown');
  linkNode('a', { inventory: [heldOf(node.last())] });
  assert.equal(edge.runState(id), 'running');
  cut('a');
  clock.advance(60_000);
  await nextTurn();
  assert.equal(codeOf((await edge.findRun({ runId: id }))?.end), 'node.lost');
});

test('F7, E30: what a Node says of a run that was given up is kept for people, and changes nothing', async () => {
  const limits = { detachedLostAfterMs: 1000 };
  const { edge, linkNode, cut, clock } = createEdgeFixture(settingsOf({}, limits));
  const node = linkNode('a');
  const id = await createRun(edge);
  node.last().say('one');
  cut('a');
  clock.advance(1000);
  await nextTurn();
  const held = heldOf(node.last(), { state: 'ended', endedAs: 'completed' });
  linkNode('a', { inventory: [held] });
  assert.deepEqual(node.askedFor('resume').at(-1)?.answers, [{ kind: 'drop', runId: id, attempt: 1 }]);
  await nextTurn();
  const record = await edge.findRun({ runId: id });
  assert.equal(codeOf(record?.end), 'node.lost');
  assert.match(record?.stale ?? '', /Node a came back and said that attempt 1 had completed/);
});

test('a cancel while the Node is away is told at its return, and waits for it', async () => {
  const { edge, linkNode, cut, clock } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  node.last().say('one');
  cut('a');
  await edge.cancelRun({ runId: id }, 'operator');
  clock.advance(60_000);
  assert.equal(edge.runState(id), 'stopping');
  linkNode('a', { inventory: [heldOf(node.last())] });
  assert.equal(node.askedFor('cancel').at(-1)?.by, 'operator');
  node.last().end({ kind: 'cancelled', by: 'operator' });
  await nextTurn();
  assert.equal((await edge.findRun({ runId: id }))?.state, 'cancelled');
});

test('a Node that goes away while it stops is not blamed for its silence', async () => {
  const { edge, linkNode, cut, clock } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  node.last().say('one');
  await edge.cancelRun({ runId: id }, 'operator');
  cut('a');
  clock.advance(60_000);
  assert.equal(edge.runState(id), 'stopping');
  linkNode('a', { inventory: [heldOf(node.last())] });
  clock.advance(10_000);
  await nextTurn();
  assert.equal(codeOf((await edge.findRun({ runId: id }))?.end), 'node.stop-unconfirmed');
});

test('a detached run whose Node was restarted is settled by its inventory, not before', async () => {
  const { edge, linkNode, bareLink, cut, epochOf } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  node.last().say('one');
  cut('a');
  bareLink('a', { instance: 'two' });
  assert.equal(edge.runState(id), 'unknown');
  const held = heldOf(node.last(), { state: 'ended', endedAs: 'completed', lastSeq: 3, firstKeptSeq: 2 });
  edge.nodes.inventory({ name: 'a', epoch: epochOf('a') }, [held]);
  node.last().say(' and two');
  node.last().end(completed);
  await nextTurn();
  assert.equal((await edge.findRun({ runId: id }))?.state, 'completed');
});

test('an end whose tail is gone is a gap, whatever it says', async () => {
  const { edge, linkNode, cut } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  node.last().say('one');
  cut('a');
  const held = heldOf(node.last(), { state: 'ended', endedAs: 'completed', lastSeq: 9, firstKeptSeq: 9 });
  linkNode('a', { instance: 'two', inventory: [held] });
  await nextTurn();
  assert.equal(codeOf((await edge.findRun({ runId: id }))?.end), 'event.gap');
});

test('a failed attempt is in the log, and acked when that is committed', async () => {
  const { edge, linkNode, log } = createEdgeFixture();
  const [a, b] = [linkNode('a'), linkNode('b')];
  const id = await createRun(edge);
  const [first, second] = a.given.length > 0 ? [a, b] : [b, a];
  first.last().end(refused);
  await nextTurn();
  assert.deepEqual(
    first.askedFor('committed').map((each) => each.seq),
    [1],
  );
  second.last().end(completed);
  await nextTurn();
  assert.deepEqual(kinds(log.of(id)), ['attempt', 'attempt-end', 'attempt', 'end']);
});
