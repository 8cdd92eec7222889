import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunState } from '@iop/wire';
import type { KeptEnd } from '../../ports/end-store.ts';
import {
  type FakeEdge,
  type FakeLink,
  mockConfig,
  resume,
  startFakeEdge,
  wireRequest,
} from '../../testing/fake-edge.ts';
import {
  ack,
  cancel,
  encoded,
  ended,
  readyLink,
  startLinkedNode,
  textOf,
} from '../../testing/linked-node.ts';
import { createMemoryEndStore } from '../../testing/memory-end-store.ts';
import { createMemoryRunStore } from '../../testing/memory-run-store.ts';

const windowBytes = 256 * 1024;

/** What a Node leaves on its disk, and Nodes that find it there. */
async function setup(test: TestContext) {
  const edge = await startFakeEdge();
  const disk = new Map<string, KeptEnd>();
  const store = createMemoryRunStore();
  return {
    edge,
    disk,
    async start() {
      const ends = createMemoryEndStore(disk);
      return { ends, ...(await startLinkedNode(test, edge, { store, ends })) };
    },
  };
}

const detached = (runId: string, prompt?: string) =>
  wireRequest(runId, { runClass: 2, ...(prompt === undefined ? {} : { prompt }) });

const resumed = (runId: string, afterSeq: number, eventCredit = windowBytes) =>
  resume({ runId, attempt: 1, afterSeq, eventCredit });

async function inventoryOf(edge: FakeEdge, nth: number) {
  const link = await edge.link(nth);
  const { entries } = await link.next('runInventory');
  return {
    link,
    entries: entries.map(({ runId, state, lastSeq, firstKeptSeq }) => ({
      runId,
      state,
      lastSeq,
      firstKeptSeq,
    })),
  };
}

/** Kept, and gone before the Edge has acked it: `seen` is what the Edge got of it. */
async function endedAndGone(test: TestContext, ackedSeq = 0) {
  const world = await setup(test);
  const first = await world.start();
  const link = await readyLink(world.edge);
  link.send(detached('r1'));
  await ended(link, 'r1');
  if (ackedSeq > 0) link.send(ack('r1', ackedSeq));
  const seen = link.eventsOf('r1');
  await first.shutdown();
  return { ...world, seen, text: textOf(link, 'r1') };
}

describe('a detached run whose Node is restarted', () => {
  it('K4: its end is on the disk with all unacked events when the Edge hears of it', async (test) => {
    const { edge, disk, start } = await setup(test);
    await start();
    const link = await readyLink(edge);
    let wasKept = false;
    link.send(detached('r1'));
    await link.next('runEvents', ({ events }) => {
      if (events.at(-1)?.kind.case !== 'end') return false;
      wasKept = disk.has('r1/1');
      return true;
    });
    assert.equal(wasKept, true);
    const { lastSeq, tail } = disk.get('r1/1') as KeptEnd;
    assert.equal(lastSeq, link.eventsOf('r1').length);
    assert.deepEqual([tail[0]?.firstSeq, tail.at(-1)?.lastSeq], [1, lastSeq - 1]);
  });

  for (const afterSeq of [0, 1, 3]) {
    it(`K5: is delivered by the next process, the same from seq ${afterSeq + 1} on, and forgotten when acked`, async (test) => {
      const { edge, disk, seen, start } = await endedAndGone(test);
      const { edgeLink } = await start();
      const { link, entries } = await inventoryOf(edge, 1);
      const lastSeq = seen.length;
      assert.deepEqual(entries, [{ runId: 'r1', state: RunState.COMPLETED, lastSeq, firstKeptSeq: 1 }]);
      link.send(resumed('r1', afterSeq));
      await ended(link, 'r1');
      assert.equal(encoded(link.eventsOf('r1')), encoded(seen.slice(afterSeq)));
      link.send(ack('r1', lastSeq));
      await edgeLink.settled(10_000);
      assert.equal(disk.size, 0);
    });
  }

  it('K5: offers only what was not acked', async (test) => {
    const { edge, seen, start } = await endedAndGone(test, 2);
    await start();
    const { link, entries } = await inventoryOf(edge, 1);
    assert.equal(entries[0]?.firstKeptSeq, 1);
    link.send(resumed('r1', 2));
    await ended(link, 'r1');
    assert.equal(encoded(link.eventsOf('r1')), encoded(seen.slice(2)));
  });

  it('K5: needs no credit for the end that is all the Edge wants', async (test) => {
    const { edge, seen, start } = await endedAndGone(test);
    await start();
    const { link } = await inventoryOf(edge, 1);
    link.send(resumed('r1', seen.length - 1, 0));
    await ended(link, 'r1');
    assert.equal(encoded(link.eventsOf('r1')), encoded(seen.slice(-1)));
  });

  it('K5: survives any number of restarts and links until it is acked', async (test) => {
    const { edge, disk, seen, start } = await endedAndGone(test);
    const second = await start();
    await inventoryOf(edge, 1);
    await second.shutdown();
    await start();
    const { link: third } = await inventoryOf(edge, 2);
    third.send(resumed('r1', 0));
    await ended(third, 'r1');
    third.link.destroy('cut by the test before the ack');
    const { link: fourth, entries } = await inventoryOf(edge, 3);
    assert.equal(entries[0]?.lastSeq, seen.length);
    assert.equal(disk.size, 1);
    fourth.send(resumed('r1', seen.length));
    fourth.send(ack('r1', seen.length));
    const { entries: last } = await afterRelink(edge, 4, fourth);
    assert.deepEqual(last, []);
    assert.equal(disk.size, 0);
  });

  it('K9: is deleted when the Edge drops it or does not name it', async (test) => {
    for (const answer of [resume(), resume({ runId: 'r1', attempt: 1, drop: true })]) {
      const { edge, disk, start } = await endedAndGone(test);
      await start();
      const { link } = await inventoryOf(edge, 1);
      link.send(answer);
      const { entries } = await afterRelink(edge, 2, link);
      assert.deepEqual([entries, disk.size], [[], 0]);
    }
  });

  it('K6: says by first_kept_seq that the events before the end are gone', async (test) => {
    const { edge, disk, seen, start } = await endedAndGone(test);
    disk.set('r1/1', { ...(disk.get('r1/1') as KeptEnd), tail: [] });
    await start();
    const { link, entries } = await inventoryOf(edge, 1);
    const lastSeq = seen.length;
    assert.deepEqual(entries, [{ runId: 'r1', state: RunState.COMPLETED, lastSeq, firstKeptSeq: lastSeq }]);
    link.send(resumed('r1', lastSeq - 1));
    await ended(link, 'r1');
    assert.equal(encoded(link.eventsOf('r1')), encoded(seen.slice(-1)));
  });

  it('K6: does not say that it has an attempt whose end cannot be read', async (test) => {
    const { edge, disk, start } = await endedAndGone(test);
    disk.set('r1/1', { ...(disk.get('r1/1') as KeptEnd), end: Uint8Array.of(1, 2, 3) });
    await start();
    const { entries } = await inventoryOf(edge, 1);
    assert.deepEqual([entries, disk.size], [[], 0]);
  });

  it('K7: is not in the inventory if it had not ended', async (test) => {
    const { edge, disk, start } = await setup(test);
    const first = await start();
    const link = await readyLink(edge);
    link.send(detached('r1', '<mock>{"stall":{}}</mock>'));
    await link.next('runAccepted');
    first.stop.abort();
    await first.over;
    await start();
    const { entries } = await inventoryOf(edge, 1);
    assert.deepEqual([entries, disk.size], [[], 0]);
  });

  it('K8: is not begun again by a process that finds it in its history', async (test) => {
    const { edge, start } = await setup(test);
    const first = await start();
    const link = await readyLink(edge);
    link.send(detached('r1', '<mock>{"stall":{}}</mock>'));
    await link.next('runAccepted');
    first.stop.abort();
    await first.over;
    const { node } = await start();
    const second = await readyLink(edge, 1);
    second.send(detached('r1'));
    await second.closed;
    const { entries } = await inventoryOf(edge, 2);
    assert.deepEqual([entries, second.eventsOf('r1'), node.status().runs], [[], [], []]);
  });

  it('K8: may be tried again under the next number', async (test) => {
    const { edge, start } = await endedAndGone(test);
    await start();
    const second = await readyLink(edge, 1);
    second.send(wireRequest('r1', { runClass: 2, attempt: 2 }));
    const end = await ended(second, 'r1');
    assert.equal(end.end.case, 'completed');
  });
});

/** The next link, after this one has been cut; all that was sent on it has been handled by then. */
async function afterRelink(edge: FakeEdge, nth: number, link: FakeLink) {
  link.send(mockConfig(99));
  await link.next('nodeConfigResult', ({ revision }) => revision === 99);
  link.link.destroy('cut by the test');
  return await inventoryOf(edge, nth);
}

describe('a detached run whose link is away', () => {
  const slow = '<mock>{"chunks":40,"text":"0123456789012345678901234567890123456789","pace_ms":5}</mock>';

  it('K1: goes on, ends and is delivered, while an attached one is stopped', async (test) => {
    const { edge, disk, start } = await setup(test);
    const { node } = await start();
    const link = await readyLink(edge);
    link.send(mockConfig(2, { orphanAfterMs: 30 }));
    await link.next('nodeConfigResult', ({ revision }) => revision === 2);
    link.send(detached('r1', slow));
    link.send(wireRequest('r2', { prompt: '<mock>{"stall":{}}</mock>' }));
    await link.next('runAccepted', ({ runId }) => runId === 'r2');
    const resumeLater = edge.holdNewLinks();
    link.link.destroy('cut by the test');
    await until(() => node.status().runs.length === 0 && disk.has('r1/1'));
    resumeLater();
    const { link: second, entries } = await inventoryOf(edge, 1);
    assert.deepEqual(
      entries.map(({ runId, state }) => [runId, state]),
      [
        ['r1', RunState.COMPLETED],
        ['r2', RunState.FAILED],
      ],
    );
    const seen = link.eventsOf('r1').length;
    second.send(resumed('r1', seen));
    await ended(second, 'r1');
    const text = textOf(link, 'r1') + textOf(second, 'r1');
    const digits = [...text.matchAll(/"content":"(\d)"/g)].map((match) => match[1]).join('');
    assert.equal(digits, '0123456789'.repeat(4));
  });

  it('K1: is stopped after its own bound, and says so in the end', async (test) => {
    const { edge, start } = await setup(test);
    const { node } = await start();
    const link = await readyLink(edge);
    link.send(mockConfig(2, { detachedOrphanAfterMs: 60 }));
    await link.next('nodeConfigResult', ({ revision }) => revision === 2);
    link.send(detached('r1', '<mock>{"stall":{}}</mock>'));
    await link.next('runAccepted');
    const resumeLater = edge.holdNewLinks();
    link.link.destroy('cut by the test');
    await until(() => node.status().runs.length === 0);
    resumeLater();
    const { link: second } = await inventoryOf(edge, 1);
    second.send(resumed('r1', 0));
    const { end } = await ended(second, 'r1');
    assert.equal(end.case === 'failed' && end.value.failure?.code, 'node.orphaned');
  });

  it('K3: takes megabytes of text before it pauses, and no byte of it is lost', async (test) => {
    const { edge, disk, start } = await setup(test);
    await start();
    const link = await readyLink(edge);
    const resumeLater = edge.holdNewLinks();
    link.send(detached('r1', '<mock>{"size":"4MiB"}</mock>'));
    await link.next('runEvents');
    link.link.destroy('cut by the test');
    await until(() => disk.has('r1/1'));
    resumeLater();
    const { link: second } = await inventoryOf(edge, 1);
    second.send(resumed('r1', link.eventsOf('r1').length, 32 * 1024 * 1024));
    await ended(second, 'r1');
    assert.ok(textOf(link, 'r1').length + textOf(second, 'r1').length > 4 * 1024 * 1024);
  });

  it('K9: is stopped by a cancel that comes with the next link', async (test) => {
    const { edge, start } = await setup(test);
    await start();
    const link = await readyLink(edge);
    link.send(detached('r1', '<mock>{"stall":{}}</mock>'));
    await link.next('runAccepted');
    link.link.destroy('cut by the test');
    const { link: second } = await inventoryOf(edge, 1);
    second.send(resumed('r1', 0));
    second.send(cancel('r1'));
    const { end } = await ended(second, 'r1');
    assert.equal(end.case === 'cancelled' && end.value.by, 'caller');
  });

  it('K9: is not changed by a cancel that comes too late', async (test) => {
    const { edge, seen, start } = await endedAndGone(test);
    await start();
    const { link } = await inventoryOf(edge, 1);
    link.send(cancel('r1'));
    link.send(resumed('r1', 0));
    link.send(cancel('r1'));
    await ended(link, 'r1');
    assert.equal(encoded(link.eventsOf('r1')), encoded(seen));
  });

  it('K9: leaves nothing behind when it is dropped while it runs', async (test) => {
    const { edge, disk, start } = await setup(test);
    const { node } = await start();
    const link = await readyLink(edge);
    link.send(detached('r1', '<mock>{"stall":{}}</mock>'));
    await link.next('runAccepted');
    link.link.destroy('cut by the test');
    const { link: second } = await inventoryOf(edge, 1);
    second.send(resume({ runId: 'r1', attempt: 1, drop: true }));
    const { entries } = await afterRelink(edge, 2, second);
    await until(() => node.status().runs.length === 0);
    assert.deepEqual([entries, disk.size], [[], 0]);
  });

  it('K4: is cancelled by a shutdown, and that end waits on the disk for the next process', async (test) => {
    const { edge, start } = await setup(test);
    const first = await start();
    const link = await readyLink(edge);
    link.send(detached('r1', '<mock>{"stall":{}}</mock>'));
    await link.next('runAccepted');
    const resumeLater = edge.holdNewLinks();
    link.link.destroy('cut by the test');
    await first.shutdown();
    resumeLater();
    await start();
    const { link: second } = await inventoryOf(edge, 1);
    second.send(resumed('r1', 0));
    const { end } = await ended(second, 'r1');
    assert.equal(end.case === 'cancelled' && end.value.by, 'shutdown');
  });
});

async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error('not within 20 s');
    await sleep(5);
  }
}
