import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RunState } from '@iop/wire';
import type { KeptEnd } from '../../ports/end-store.ts';
import {
  afterRelink,
  createWorld,
  detached,
  endedAndGone,
  inventoryOf,
  resumed,
} from '../../testing/detached-world.ts';
import { resume, wireRequest } from '../../testing/fake-edge.ts';
import { ack, encoded, ended, readyLink } from '../../testing/linked-node.ts';

describe('a detached run whose Node is restarted', () => {
  it('K4: its end is on the disk with all unacked events when the Edge hears of it', async (test) => {
    const { edge, disk, start } = await createWorld(test);
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
    const { edge, disk, start } = await createWorld(test);
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
    const { edge, start } = await createWorld(test);
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
