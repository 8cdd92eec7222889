import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RunState } from '@iop/wire';
import {
  afterRelink,
  createWorld,
  detached,
  endedAndGone,
  inventoryOf,
  resumed,
  until,
} from '../../testing/detached-world.ts';
import { mockConfig, resume, wireRequest } from '../../testing/fake-edge.ts';
import { cancel, encoded, ended, readyLink, textOf } from '../../testing/linked-node.ts';

describe('a detached run whose link is away', () => {
  const slow = '<mock>{"chunks":40,"text":"0123456789012345678901234567890123456789","pace_ms":5}</mock>';

  it('K1: goes on, ends and is delivered, while an attached one is stopped', async (test) => {
    const { edge, disk, start } = await createWorld(test);
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
    const { edge, start } = await createWorld(test);
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
    const { edge, disk, start } = await createWorld(test);
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
    const { edge, start } = await createWorld(test);
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
    const { edge, disk, start } = await createWorld(test);
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
    const { edge, start } = await createWorld(test);
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
