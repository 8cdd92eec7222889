import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRun, nextTurn, openCursor, tryCreate } from '../testing/cursor-fixture.ts';
import { createEdgeFixture, settingsOf } from '../testing/edge-fixture.ts';
import { completed } from '../testing/fake-node.ts';

const keyed = (key: string, bodyHash = 'h1') => ({ idempotency: { key, bodyHash } });

test('E26: the same key and body are the same run; another body is a conflict; another key of a caller is another run', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge, keyed('k'));
  assert.deepEqual(await tryCreate(edge, keyed('k')), { kind: 'repeated', runId: id });
  assert.deepEqual(await tryCreate(edge, keyed('k', 'h2')), { kind: 'key-conflict', key: 'k', runId: id });
  assert.equal((await tryCreate(edge, keyed('k2'))).kind, 'created');
  assert.equal((await tryCreate(edge, { ...keyed('k'), keyId: 'other' })).kind, 'created');
  assert.equal((await tryCreate(edge, { ...keyed('k'), door: 'native' })).kind, 'created');
  await nextTurn();
  assert.equal(node.given.length, 4);
});

test('F9: of many creations at once with one key one is started', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => tryCreate(edge, keyed('k'))));
  await nextTurn();
  assert.equal(node.given.length, 1);
  assert.equal(outcomes.filter((each) => each.kind === 'created').length, 1);
  assert.equal(outcomes.filter((each) => each.kind === 'repeated').length, 49);
});

test('a key whose run ended by its caller or retryable starts a new run, every other end stays its answer', async () => {
  const failure = { kind: 'unavailable', code: 'upstream.cut', message: 'cut', details: {} } as const;
  const ends = [
    [{ kind: 'cancelled', by: 'caller' }, 'created'],
    [{ kind: 'failed', failure: { ...failure, retryable: true } }, 'created'],
    [{ kind: 'failed', failure: { ...failure, retryable: false } }, 'repeated'],
    [{ kind: 'cancelled', by: 'operator' }, 'repeated'],
    [completed, 'repeated'],
  ] as const;
  for (const [end, outcome] of ends) {
    const { edge, linkNode } = createEdgeFixture(settingsOf({}, { attempts: 1 }));
    const node = linkNode('a');
    const id = await createRun(edge, keyed('k'));
    node.last().say('one');
    if (end.kind === 'cancelled') await edge.cancelRun({ runId: id }, end.by);
    node.last().end(end);
    await nextTurn();
    assert.equal((await tryCreate(edge, keyed('k'))).kind, outcome, JSON.stringify(end));
  }
});

test('E28: an attached run with a key lives while one of its owners does; a watcher is none', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge, { runClass: 'attached', ...keyed('k') });
  const first = await openCursor(edge, id, { owns: true });
  const second = await openCursor(edge, id, { owns: true });
  const watcher = await openCursor(edge, id);
  await nextTurn();
  node.last().say('one');
  assert.equal(node.askedFor('consumed').length, 1, 'nobody holds the credit of a run that cursors read');
  first.cursor.close();
  assert.deepEqual(node.askedFor('cancel'), []);
  second.cursor.close();
  assert.equal(node.askedFor('cancel').at(-1)?.by, 'caller');
  node.last().end({ kind: 'cancelled', by: 'caller' });
  await nextTurn();
  assert.equal(watcher.events.at(-1)?.kind, 'end');
});

test('an owner that came with an attached run may leave it to another', () => {
  const { edge, linkNode, start } = createEdgeFixture();
  const node = linkNode('a');
  const run = start();
  node.last().say('one');
  return openCursor(edge, run.id, { owns: true }).then((second) => {
    run.cancel('caller');
    assert.deepEqual(node.askedFor('cancel'), []);
    assert.equal(node.askedFor('consumed').length, 1);
    node.last().say('two');
    assert.equal(second.text, 'onetwo');
    second.cursor.close();
    assert.equal(node.askedFor('cancel').at(-1)?.by, 'caller');
  });
});

test('of a run whose content is not kept a watcher sees the newest, after an explicit gap', async () => {
  const settings = settingsOf();
  const { edge, linkNode, start } = createEdgeFixture({
    ...settings,
    history: { ...settings.history, content: 'metadata' },
  });
  const node = linkNode('a');
  const run = start();
  const text = 'x'.repeat(8000);
  for (let i = 0; i < 20; i++) node.last().say(text);
  const live = await openCursor(edge, run.id);
  await nextTurn();
  assert.equal(live.gaps.length, 1);
  assert.ok(live.text.length >= 50_000 && live.text.length <= 72_000, `${live.text.length}`);
  node.last().end(completed);
  await nextTurn();
  assert.equal(live.events.at(-1)?.kind, 'end');
  const later = await openCursor(edge, run.id);
  await nextTurn();
  assert.deepEqual(later.gaps, [[2, 21]]);
  assert.deepEqual(
    later.events.map((event) => event.kind),
    ['attempt', 'end'],
  );
});

test('what was stored can be deleted once it has ended', async () => {
  const { edge, linkNode } = createEdgeFixture();
  const node = linkNode('a');
  const asked = new TextEncoder().encode('{"input":"hi"}');
  const id = await createRun(edge, { asked });
  assert.deepEqual((await edge.runOrder({ runId: id }))?.asked, asked);
  assert.deepEqual(await edge.deleteRun({ runId: id }), { kind: 'not-ended' });
  node.last().end(completed);
  await nextTurn();
  assert.deepEqual(await edge.deleteRun({ runId: id }), { kind: 'deleted' });
  assert.equal(await edge.runOrder({ runId: id }), undefined);
});

test('detached runs outlive the stop of the Edge, attached ones do not', async () => {
  const { edge, linkNode, start, clock, records } = createEdgeFixture();
  const node = linkNode('a');
  const id = await createRun(edge);
  const attached = start();
  const stopping = edge.stop({ drainMs: 0, confirmMs: 0 });
  clock.advance(100);
  await stopping;
  assert.ok(attached.end !== undefined);
  assert.deepEqual(
    node.askedFor('cancel').map((each) => each.runId),
    [attached.id],
  );
  assert.equal((await records.find(id))?.end, undefined);
  assert.deepEqual(await tryCreate(edge), { kind: 'stopping' });
});

test('a run that is committed while the Edge stops waits for the next process, and whoever asked for it with it', async () => {
  const { edge, linkNode, clock } = createEdgeFixture();
  const node = linkNode('a');
  const creating = tryCreate(edge);
  const stopping = edge.stop({ drainMs: 0, confirmMs: 0 });
  clock.advance(100);
  await stopping;
  const created = await creating;
  assert.ok(created.kind === 'created');
  const view = await openCursor(edge, created.runId);
  await nextTurn();
  assert.deepEqual([view.events, node.given], [[], []]);
});
