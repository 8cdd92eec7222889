import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settle } from '@iop/link/testing';
import { createNodeFixture, RecordingChannel, runRequest } from '../testing/node-fixture.ts';

const completed = { kind: 'completed', finish: 'stop' } as const;

/** A detached run whose reader takes nothing. */
function startFull() {
  const fixture = createNodeFixture();
  const { channel } = fixture.start({ runClass: 'detached' });
  const fill = () => {
    channel.isFull = true;
    fixture.adapter.runs[0]?.emitText('x');
    fixture.adapter.runs[0]?.whenDrained(() => {});
  };
  return { ...fixture, channel, fill };
}

const codeOf = ({ ended }: RecordingChannel) => ended.kind === 'failed' && ended.failure.code;

describe('Node: detached runs', () => {
  it('K1: go on without a link for longer than attached ones, then are stopped', async () => {
    const { node, start, clock } = createNodeFixture();
    const { channel } = start({ runClass: 'detached' });
    node.onLinkDown();
    clock.advance(599_999);
    await settle();
    assert.equal(channel.ends.length, 0);
    clock.advance(1);
    await settle();
    assert.equal(codeOf(channel), 'node.orphaned');
  });

  it('K1: have their whole time again after every link', async () => {
    const { node, start, clock } = createNodeFixture();
    const { channel } = start({ runClass: 'detached' });
    for (let n = 0; n < 3; n++) {
      node.onLinkDown();
      clock.advance(500_000);
      node.onLinkUp();
    }
    await settle();
    assert.equal(channel.ends.length, 0);
  });

  it('K1: end by their deadline, link or no link', async () => {
    const { node, start, clock } = createNodeFixture();
    const { channel } = start({ runClass: 'detached', deadlineMs: 5_000 });
    node.onLinkDown();
    clock.advance(5_000);
    await settle();
    assert.deepEqual(channel.ended, { kind: 'cancelled', by: 'deadline' });
  });

  it('K1: leave no timer behind when they end while the link is away', async () => {
    const { node, start, clock, adapter } = createNodeFixture();
    start({ runClass: 'detached' });
    node.onLinkDown();
    adapter.runs[0]?.end(completed);
    await settle();
    clock.advance(1_000);
    assert.equal(clock.pending, 0);
  });

  it('K2: do not stall while there is no link, however full they are', async () => {
    const { node, channel, clock, fill } = startFull();
    node.onLinkDown();
    fill();
    clock.advance(590_000);
    await settle();
    assert.equal(channel.ends.length, 0);
  });

  it('K2: stall when nobody takes anything on the next link, counted from its start', async () => {
    const { node, channel, clock, fill } = startFull();
    fill();
    clock.advance(50_000);
    node.onLinkDown();
    clock.advance(100_000);
    node.onLinkUp();
    clock.advance(59_000);
    await settle();
    assert.equal(channel.ends.length, 0);
    clock.advance(2_000);
    await settle();
    assert.equal(codeOf(channel), 'run.stalled');
  });

  it('K8: an attempt that was here before is not begun again, a later one is', async () => {
    const { node, start, adapter } = createNodeFixture();
    const { runId } = start({ runClass: 'detached', attempt: 2 });
    adapter.runs[0]?.end(completed);
    await settle();
    for (const attempt of [1, 2]) {
      const channel = new RecordingChannel();
      const again = runRequest({ runId, attempt, runClass: 'detached' });
      assert.deepEqual(node.onRunRequest(again, channel), { kind: 'stale' });
      assert.deepEqual([channel.events, channel.ends], [[], []]);
    }
    assert.equal(start({ runId, attempt: 3, runClass: 'detached' }).outcome.kind, 'accepted');
    assert.equal(adapter.runs.length, 2);
  });
});
