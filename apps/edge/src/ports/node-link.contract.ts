import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { AttemptSink, NodeLink, RunOrder } from './node-link.ts';

/** The Node at the other end, as far as the contract needs it. */
export interface NodeLinkHarness extends AsyncDisposable {
  link: NodeLink;
  node: {
    /** Takes the next order; waits for it. */
    takeOrder(): Promise<{ runId: string; attempt: number; body: Uint8Array }>;
    accept(runId: string): void;
    say(runId: string, text: string): void;
    end(runId: string, end: RunEnd): void;
    /** Waits until the Node was asked to cancel it; says by what. */
    cancelledBy(runId: string): Promise<string>;
  };
  /** Waits until `isTrue`, or fails. */
  until(what: string, isTrue: () => boolean): Promise<void>;
}

/** What was told of one attempt. */
export type Told =
  | { kind: 'accepted' }
  | { kind: 'text'; text: string }
  | { kind: 'state'; state: string }
  | { kind: 'end'; end: RunEnd }
  | { kind: 'broken'; code: string };

export function createRecordingSink(): AttemptSink & { readonly told: Told[]; readonly sizeBytes: number } {
  const told: Told[] = [];
  let sizeBytes = 0;
  return {
    told,
    get sizeBytes() {
      return sizeBytes;
    },
    accepted: () => void told.push({ kind: 'accepted' }),
    events(events, size) {
      sizeBytes += size;
      for (const event of events) told.push({ kind: 'text', text: textOf(event) });
    },
    stateChanged: (state) => void told.push({ kind: 'state', state }),
    end: (end) => void told.push({ kind: 'end', end }),
    broken: (code) => void told.push({ kind: 'broken', code }),
  };
}

function textOf(event: RuntimeEvent): string {
  return event.kind === 'raw' ? new TextDecoder().decode(event.bytes) : event.kind;
}

export function orderOf(over: Partial<RunOrder> = {}): RunOrder {
  return {
    runId: 'run_1',
    attempt: 1,
    adapter: 'mock',
    target: 'echo',
    dialect: 'openai.chat',
    body: new TextEncoder().encode('{}'),
    stream: true,
    includeUsage: false,
    deadlineMs: 0,
    door: 'openai',
    configRevision: 1,
    detached: false,
    ...over,
  };
}

const completed: RunEnd = { kind: 'completed', finish: 'stop' };

/** What every `NodeLink` keeps. */
export function nodeLinkContract(name: string, setUp: () => Promise<NodeLinkHarness>): void {
  const limit = { timeout: 60_000 };
  describe(`node link: ${name}`, limit, () => {
    test('an attempt is told in order, to its one end', limit, async () => {
      await using harness = await setUp();
      const { link, node, until } = harness;
      const sink = createRecordingSink();
      link.dispatch(orderOf(), sink);
      const order = await node.takeOrder();
      assert.deepEqual([order.runId, order.attempt, order.body.length], ['run_1', 1, 2]);
      node.accept('run_1');
      node.say('run_1', 'one');
      node.say('run_1', 'two');
      node.end('run_1', completed);
      await until('it has ended', () => sink.told.at(-1)?.kind === 'end');
      assert.deepEqual(sink.told, [
        { kind: 'accepted' },
        { kind: 'text', text: 'one' },
        { kind: 'text', text: 'two' },
        { kind: 'end', end: completed },
      ]);
      assert.ok(sink.sizeBytes >= 6);
    });

    test('nothing is told before dispatch has returned', limit, async () => {
      await using harness = await setUp();
      const sink = createRecordingSink();
      harness.link.dispatch(orderOf(), sink);
      assert.deepEqual(sink.told, []);
    });

    test('what has arrived is counted', limit, async () => {
      await using harness = await setUp();
      const { link, node, until } = harness;
      const sink = createRecordingSink();
      link.dispatch(orderOf(), sink);
      assert.equal(link.receivedSeq(orderOf()), 0);
      await node.takeOrder();
      node.say('run_1', 'one');
      await until('it has arrived', () => sink.told.length === 1);
      assert.equal(link.receivedSeq(orderOf()), 1);
      assert.equal(link.receivedSeq(orderOf({ attempt: 2 })), 0);
      assert.equal(link.receivedSeq(orderOf({ runId: 'run_none' })), 0);
    });

    test('a cancel reaches the Node; the end still comes', limit, async () => {
      await using harness = await setUp();
      const { link, node, until } = harness;
      const sink = createRecordingSink();
      link.dispatch(orderOf(), sink);
      await node.takeOrder();
      link.cancel(orderOf(), 'deadline');
      assert.equal(await node.cancelledBy('run_1'), 'deadline');
      node.end('run_1', { kind: 'cancelled', by: 'deadline' });
      await until('it has ended', () => sink.told.at(-1)?.kind === 'end');
    });

    test('a forgotten attempt is told nothing more, and a further one of the run is', limit, async () => {
      await using harness = await setUp();
      const { link, node, until } = harness;
      const [old, current] = [createRecordingSink(), createRecordingSink()];
      link.dispatch(orderOf(), old);
      await node.takeOrder();
      link.forget(orderOf());
      node.say('run_1', 'ghost');
      link.dispatch(orderOf({ attempt: 2 }), current);
      const order = await node.takeOrder();
      assert.equal(order.attempt, 2);
      node.say('run_1', 'real');
      await until('it has arrived', () => current.told.length === 1);
      assert.deepEqual(current.told, [{ kind: 'text', text: 'real' }]);
      assert.deepEqual(old.told, []);
    });

    test('asking about what is unknown harms nothing', limit, async () => {
      await using harness = await setUp();
      const { link } = harness;
      const ref = { runId: 'run_none', attempt: 3 };
      link.cancel(ref, 'caller');
      link.consumed(ref, 5);
      link.forget(ref);
      link.resume([{ ...ref, kind: 'drop' }]);
    });
  });
}
