import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { settle } from '@iop/link/testing';
import { createNodeFixture, RecordingChannel, runRequest } from '../testing/node-fixture.ts';

const completed: RunEnd = { kind: 'completed', finish: 'stop' };
const none = new AbortController().signal;

describe('Node: a run', () => {
  it('executes on its adapter, passes events on and ends once', async () => {
    const { start, adapter, store } = createNodeFixture();
    const { channel, outcome } = start();
    assert.deepEqual(outcome, { kind: 'accepted' });
    const run = adapter.runs[0];
    assert.equal(run?.spec.target, 'echo');
    run?.emitText('hello');
    run?.end({ ...completed, usage: { promptTokens: 1, completionTokens: 2, estimated: false } });
    await settle();
    assert.equal(channel.events.length, 1);
    assert.equal(channel.ended.kind, 'completed');
    assert.deepEqual(store.recent(1)[0]?.end?.completionTokens, 2);
  });

  it('T1: passes nothing on after the end', async () => {
    const { start, adapter } = createNodeFixture();
    const { channel } = start();
    adapter.runs[0]?.end(completed);
    await settle();
    assert.equal(adapter.runs[0]?.emitText('late'), true);
    assert.equal(channel.events.length, 0);
  });

  it('ends as internal when the adapter throws', async () => {
    const { start, adapter } = createNodeFixture();
    const { channel } = start();
    adapter.runs[0]?.crash(new Error('oops'));
    await settle();
    const end = channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.code, 'adapter.bug');
  });

  it('fails when its adapter is not configured here, and may be tried elsewhere', () => {
    const { start } = createNodeFixture();
    const end = start({ adapter: 'nope' }).channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.code, 'adapter.unknown');
    assert.equal(end.kind === 'failed' && end.failure.retryable, true);
  });

  it('fails when its adapter does not take the dialect', () => {
    const { start } = createNodeFixture({ adapter: { dialects: ['iop.prompt'] } });
    const end = start().channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.kind, 'unsupported');
  });

  it('waits for a body that is still coming', () => {
    const { node, start, adapter } = createNodeFixture();
    const { runId } = start({ body: undefined, bodySizeBytes: 6 });
    assert.equal(adapter.runs.length, 0);
    node.onRunBody(runId, 1, Buffer.from('abcdef'));
    node.onRunBody(runId, 1, Buffer.from('abcdef'));
    assert.equal(adapter.runs.length, 1);
    assert.equal(Buffer.from(adapter.runs[0]?.spec.body ?? []).toString(), 'abcdef');
  });

  it('fails when its body cannot be had', () => {
    const { node, start, adapter } = createNodeFixture();
    const { runId, channel } = start({ body: undefined, bodySizeBytes: 5 });
    node.onRunBodyBroken(runId, 1, 'bytes are missing');
    assert.equal(channel.ended.kind, 'failed');
    assert.equal(adapter.runs.length, 0);
  });

  it('refuses a body that is too large before it has come', () => {
    const { start } = createNodeFixture();
    const end = start({ body: undefined, bodySizeBytes: 4_000_000_000 }).channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.code, 'request.too-large');
  });

  it('N2: a later attempt fences the earlier one', async () => {
    const { node, start, adapter } = createNodeFixture({ adapter: { obeysCancel: false } });
    const first = start();
    const second = new RecordingChannel();
    assert.deepEqual(node.onRunRequest(runRequest({ runId: first.runId, attempt: 2 }), second), {
      kind: 'accepted',
    });
    assert.equal(adapter.runs[0]?.signal.reason, 'superseded');
    node.onCancel(first.runId, 1, 'caller');
    assert.equal(adapter.runs[1]?.signal.aborted, false);
    adapter.runs[1]?.end(completed);
    await settle();
    assert.equal(second.ended.kind, 'completed');
    assert.equal(node.status().runs.length, 1);
    adapter.runs[0]?.end({ kind: 'cancelled', by: 'superseded' });
    await settle();
    assert.equal(node.status().runs.length, 0);
  });

  it('N2: the same or an earlier attempt again is stale', () => {
    const { node, start, adapter } = createNodeFixture();
    const { runId } = start({ attempt: 2 });
    for (const attempt of [1, 2]) {
      const outcome = node.onRunRequest(runRequest({ runId, attempt }), new RecordingChannel());
      assert.deepEqual(outcome, { kind: 'stale' });
    }
    assert.equal(adapter.runs.length, 1);
  });

  it('N2: a later attempt also fences one whose body is still coming', () => {
    const { node, start, adapter } = createNodeFixture();
    const { runId, channel } = start({ body: undefined, bodySizeBytes: 6 });
    node.onRunRequest(runRequest({ runId, attempt: 2 }), new RecordingChannel());
    assert.equal(channel.ended.kind, 'cancelled');
    assert.equal(adapter.runs.length, 1);
  });
});

describe('Node: stopping a run', () => {
  it('cancels by name and ends only after the work has stopped', async () => {
    const { node, start, adapter } = createNodeFixture({ adapter: { obeysCancel: false } });
    const { runId, channel } = start();
    node.onCancel(runId, 1, 'operator');
    await settle();
    assert.equal(channel.ends.length, 0);
    assert.equal(adapter.runs[0]?.signal.reason, 'operator');
    adapter.runs[0]?.end({ kind: 'cancelled', by: 'caller' });
    await settle();
    assert.deepEqual(channel.ended, { kind: 'cancelled', by: 'operator' });
  });

  it('cancels whichever attempt there is when none is named', async () => {
    const { node, start } = createNodeFixture();
    const { runId, channel } = start({ attempt: 3 });
    node.onCancel(runId, 0, 'caller');
    await settle();
    assert.equal(channel.ended.kind, 'cancelled');
  });

  it('ends a run at once that has not begun', () => {
    const { node, start } = createNodeFixture();
    const { runId, channel } = start({ body: undefined, bodySizeBytes: 6 });
    node.onCancel(runId, 1, 'caller');
    assert.deepEqual(channel.ended, { kind: 'cancelled', by: 'caller' });
  });

  it('keeps a whole answer that came before the cancel took effect', async () => {
    const { node, start, adapter } = createNodeFixture({ adapter: { obeysCancel: false } });
    const { runId, channel } = start();
    node.onCancel(runId, 1, 'caller');
    adapter.runs[0]?.end(completed);
    await settle();
    assert.equal(channel.ended.kind, 'completed');
  });

  it('calls a failure that a cancel brought about cancelled', async () => {
    const { node, start, adapter } = createNodeFixture({ adapter: { obeysCancel: false } });
    const { runId, channel } = start();
    node.onCancel(runId, 1, 'caller');
    const failure = {
      kind: 'unavailable',
      code: 'upstream.cut',
      message: 'x',
      details: {},
      retryable: true,
    } as const;
    adapter.runs[0]?.end({ kind: 'failed', failure });
    await settle();
    assert.equal(channel.ended.kind, 'cancelled');
  });

  it('cancels at the deadline', async () => {
    const { start, clock } = createNodeFixture();
    const { channel } = start({ deadlineMs: 500 });
    clock.advance(499);
    await settle();
    assert.equal(channel.ends.length, 0);
    clock.advance(1);
    await settle();
    assert.deepEqual(channel.ended, { kind: 'cancelled', by: 'deadline' });
  });

  it('forgets a run that the Edge no longer knows', async () => {
    const { node, start, adapter } = createNodeFixture();
    const { runId } = start();
    node.onFenced(runId, 1);
    assert.equal(adapter.runs[0]?.signal.reason, 'superseded');
    await settle();
    assert.equal(node.status().runs.length, 0);
  });
});

describe('Node: links and readers that are away', () => {
  it('N4: stops attached runs after the link was away for orphan_after, detached ones not', async () => {
    const { node, start, clock, adapter } = createNodeFixture();
    const attached = start();
    const detached = start({ runClass: 'detached' });
    node.onLinkDown();
    clock.advance(9_999);
    await settle();
    assert.equal(attached.channel.ends.length, 0);
    clock.advance(1);
    await settle();
    const end = attached.channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.code, 'node.orphaned');
    assert.equal(detached.channel.ends.length, 0);
    assert.equal(adapter.runs[1]?.signal.aborted, false);
  });

  it('N4: does not stop them when the link is back in time, and counts anew the next time', async () => {
    const { node, start, clock } = createNodeFixture();
    const { channel } = start();
    node.onLinkDown();
    clock.advance(9_000);
    node.onLinkUp();
    clock.advance(9_000);
    node.onLinkDown();
    clock.advance(9_000);
    await settle();
    assert.equal(channel.ends.length, 0);
  });

  it('ends a run whose reader takes nothing for stall_after', async () => {
    const { start, clock, adapter } = createNodeFixture();
    const { channel } = start();
    channel.isFull = true;
    assert.equal(adapter.runs[0]?.emitText('x'), false);
    adapter.runs[0]?.whenDrained(() => {});
    clock.advance(59_000);
    await settle();
    assert.equal(channel.ends.length, 0);
    clock.advance(2_000);
    await settle();
    const end = channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.code, 'run.stalled');
  });

  it('does not count the time that an upstream is silent as a stall', async () => {
    const { start, clock, adapter } = createNodeFixture();
    const { channel } = start();
    channel.isFull = true;
    adapter.runs[0]?.emitText('x');
    adapter.runs[0]?.whenDrained(() => {});
    clock.advance(50_000);
    channel.makeRoom();
    clock.advance(600_000);
    await settle();
    assert.equal(channel.ends.length, 0);
  });

  it('leaves no timer behind when nothing runs', async () => {
    const { start, clock, adapter } = createNodeFixture();
    start({ deadlineMs: 100_000 });
    adapter.runs[0]?.end(completed);
    await settle();
    clock.advance(1_000);
    assert.equal(clock.pending, 0);
  });
});

describe('Node: draining', () => {
  it('takes no new runs while it drains, and takes them again afterwards', async () => {
    const { node, start, adapter } = createNodeFixture();
    const changes: boolean[] = [];
    node.onDrainChanged((draining) => changes.push(draining));
    const before = start();
    await node.onCommandRequest({ kind: 'drain', deadlineMs: 0 }, none);
    const end = start().channel.ended;
    assert.equal(end.kind === 'failed' && end.failure.code, 'node.draining');
    assert.equal(end.kind === 'failed' && end.failure.retryable, true);
    assert.equal(before.channel.ends.length, 0);
    await node.onCommandRequest({ kind: 'resume' }, none);
    start();
    assert.equal(adapter.runs.length, 2);
    assert.deepEqual(changes, [true, false]);
  });

  it('cancels what still runs at the deadline of the drain', async () => {
    const { node, start, clock } = createNodeFixture();
    const { channel } = start();
    await node.onCommandRequest({ kind: 'drain', deadlineMs: 1_000 }, none);
    clock.advance(1_000);
    await settle();
    assert.deepEqual(channel.ended, { kind: 'cancelled', by: 'drain' });
  });

  it('shuts down as soon as the last run has ended by itself', async () => {
    const { node, start, adapter } = createNodeFixture();
    const { channel } = start();
    const over = node.shutdown({ graceMs: 5_000, stopMs: 1_000 });
    adapter.runs[0]?.end(completed);
    await over;
    assert.equal(channel.ended.kind, 'completed');
    assert.equal(adapter.closed, true);
  });

  it('cancels what still runs after the grace of a shutdown, and goes even if it does not stop', async () => {
    const { node, start, adapter, clock } = createNodeFixture({ adapter: { obeysCancel: false } });
    start();
    const over = node.shutdown({ graceMs: 5_000, stopMs: 1_000 });
    clock.advance(5_000);
    await settle();
    assert.equal(adapter.runs[0]?.signal.reason, 'shutdown');
    clock.advance(1_000);
    await over;
  });
});

describe('Node: commands', () => {
  it('tells its status', async () => {
    const { node, start } = createNodeFixture();
    const { runId } = start();
    node.onCancel(runId, 0, 'caller');
    const result = await node.onCommandRequest({ kind: 'status' }, none);
    assert.deepEqual(result.kind === 'status' && result.status.configRevision, 1);
  });

  it('tells what its adapters can do', async () => {
    const { node } = createNodeFixture();
    const result = await node.onCommandRequest({ kind: 'capabilities' }, none);
    assert.deepEqual(result.kind === 'capabilities' && result.adapters[0]?.targets, [{ name: 'echo' }]);
  });

  it('has no sessions and says so', async () => {
    const { node } = createNodeFixture();
    assert.deepEqual(await node.onCommandRequest({ kind: 'sessions' }, none), {
      kind: 'sessions',
      sessions: [],
    });
    const result = await node.onCommandRequest({ kind: 'terminate-session', sessionId: 'x' }, none);
    assert.equal(result.kind === 'failed' && result.failure.code, 'session.unknown');
  });
});
