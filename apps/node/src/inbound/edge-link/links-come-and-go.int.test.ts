import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunState } from '@iop/wire';
import { mockConfig, resume, startFakeEdge, wireRequest } from '../../testing/fake-edge.ts';
import { ack, ended, readyLink, startLinkedNode, textOf } from '../../testing/linked-node.ts';

describe('edge link: links that come and go', () => {
  const slow = '<mock>{"chunks":40,"text":"0123456789012345678901234567890123456789","pace_ms":10}</mock>';

  it('E3: a run goes on over a lost link and its events are the same', async (test) => {
    const edge = await startFakeEdge();
    await startLinkedNode(test, edge);
    const first = await readyLink(edge);
    first.send(wireRequest('r1', { prompt: slow }));
    await first.next('runEvents', (batch) => batch.firstSeq >= 5);
    first.link.destroy('cut by the test');
    const seen = first.eventsOf('r1').length;
    const second = await edge.link(1);
    const [entry] = (await second.next('runInventory')).entries;
    assert.equal(entry?.runId, 'r1');
    assert.equal(entry?.state, RunState.RUNNING);
    assert.ok((entry?.lastSeq ?? 0) >= seen);
    assert.equal(entry?.firstKeptSeq, 1);
    second.send(resume({ runId: 'r1', attempt: 1, afterSeq: seen, eventCredit: 256 * 1024 }));
    await ended(second, 'r1');
    const text = textOf(first, 'r1') + textOf(second, 'r1');
    const digits = [...text.matchAll(/"content":"(\d)"/g)].map((match) => match[1]).join('');
    assert.equal(digits, '0123456789'.repeat(4));
  });

  it('D1: keeps an end until it is acked, and forgets it then', async (test) => {
    const edge = await startFakeEdge();
    const { edgeLink } = await startLinkedNode(test, edge);
    const first = await readyLink(edge);
    first.send(wireRequest('r1'));
    await ended(first, 'r1');
    first.link.destroy('cut by the test');
    const second = await edge.link(1);
    const [entry] = (await second.next('runInventory')).entries;
    assert.equal(entry?.state, RunState.COMPLETED);
    second.send(resume({ runId: 'r1', attempt: 1, afterSeq: 0, eventCredit: 256 * 1024 }));
    await ended(second, 'r1');
    assert.equal(textOf(first, 'r1'), textOf(second, 'r1'));
    second.send(ack('r1', second.eventsOf('r1').length));
    await edgeLink.settled(5_000);
    second.link.destroy('cut by the test');
    const third = await edge.link(2);
    assert.deepEqual((await third.next('runInventory')).entries, []);
  });

  it('D2: stops and forgets what the Edge drops or does not name', async (test) => {
    const edge = await startFakeEdge();
    const { node } = await startLinkedNode(test, edge);
    const first = await readyLink(edge);
    first.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    first.send(wireRequest('r2', { prompt: '<mock>{"stall":{}}</mock>' }));
    await first.next('runAccepted', ({ runId }) => runId === 'r2');
    first.link.destroy('cut by the test');
    const second = await edge.link(1);
    assert.equal((await second.next('runInventory')).entries.length, 2);
    second.send(resume({ runId: 'r1', attempt: 1, drop: true }));
    second.send(mockConfig());
    await second.next('edgeNodeEvent');
    assert.deepEqual(node.status().runs, []);
    assert.deepEqual(second.eventsOf('r1'), []);
  });

  it('a later attempt fences the earlier one', async (test) => {
    const edge = await startFakeEdge();
    const { node } = await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    link.send(wireRequest('r1', { attempt: 2 }));
    await link.next('runEvents', (batch) => batch.attempt === 2 && batch.events.at(-1)?.kind.case === 'end');
    assert.ok(link.messages.every((message) => message.case !== 'runEvents' || message.value.attempt === 2));
    assert.deepEqual(node.status().runs, []);
  });

  it('N4: stops attached runs when the link stays away', async (test) => {
    const edge = await startFakeEdge();
    const { node } = await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    link.send(mockConfig(2, { orphanAfterMs: 100 }));
    await link.next('nodeConfigResult', (result) => result.revision === 2);
    link.send(wireRequest('r1', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted');
    await edge.close();
    const until = performance.now() + 5_000;
    while (node.status().runs.length > 0 && performance.now() < until) await sleep(10);
    assert.deepEqual(node.status().runs, []);
  });

  it('says Goodbye when it is told to stop', async (test) => {
    const edge = await startFakeEdge();
    const { stop, over } = await startLinkedNode(test, edge);
    const link = await readyLink(edge);
    stop.abort();
    await over;
    assert.equal((await link.closed).kind, 'goodbye');
  });
});
