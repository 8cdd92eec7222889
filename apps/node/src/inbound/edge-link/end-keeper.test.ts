import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { Pump, RunOutbox } from '@iop/link';
import { createFakeLink, createManualClock, settle, textEvent } from '@iop/link/testing';
import { createMemoryEndStore } from '../../testing/memory-end-store.ts';
import { silentLog } from '../../testing/node-fixture.ts';
import { EndKeeper, releaseAfterMs } from './end-keeper.ts';
import { WireChannel } from './wire-channel.ts';

const completed: RunEnd = { kind: 'completed', finish: 'stop' };

function setup(options: { commitMs?: number } = {}) {
  const clock = createManualClock();
  const errors: string[] = [];
  const log = { ...silentLog, error: (_: object, message: string) => void errors.push(message) };
  const disk = createMemoryEndStore();
  const ends = {
    ...disk,
    keep(group: Parameters<typeof disk.keep>[0]) {
      clock.advance(options.commitMs ?? 0);
      disk.keep(group);
    },
  };
  const keeper = new EndKeeper({ clock, log, ends });
  const pump = new Pump(clock);
  pump.attach(createFakeLink());
  const over = (runId: string) => {
    const outbox = new RunOutbox({ runId, attempt: 1, creditBytes: 1_000, pump });
    const channel = new WireChannel({ outbox, onEnd: (ended, end) => keeper.hold(ended, end) });
    outbox.append(textEvent('hello'));
    channel.end(completed);
    return channel;
  };
  return { clock, errors, disk, keeper, over };
}

describe('end keeper', () => {
  it('K4: the end is in no outbox until it is kept', async () => {
    const { disk, over } = setup();
    const keep = disk.keep;
    const channel = over('a');
    let wasEnded: boolean | undefined;
    assert.equal(channel.outbox.ended, false);
    disk.keep = (group) => {
      wasEnded = channel.outbox.ended;
      keep(group);
    };
    await settle();
    assert.deepEqual([wasEnded, channel.outbox.ended, channel.endKind], [false, true, 'completed']);
  });

  it('K4: ends of one turn are one commit', async () => {
    const { disk, over } = setup();
    for (const runId of ['a', 'b', 'c']) over(runId);
    await settle();
    assert.deepEqual(disk.groups, [3]);
  });

  it('K4: commits take at most a fifth of the time: the next one waits, and takes all that came', async () => {
    const { disk, clock, over } = setup({ commitMs: 10 });
    over('a');
    await settle();
    for (const runId of ['b', 'c']) {
      over(runId);
      await settle();
    }
    clock.advance(39);
    assert.deepEqual(disk.groups, [1]);
    clock.advance(1);
    assert.deepEqual(disk.groups, [1, 2]);
  });

  it('a disk that refuses is tried again, and nothing leaves meanwhile', async () => {
    const { disk, clock, errors, over } = setup();
    disk.isRefusing = true;
    const channel = over('a');
    await settle();
    clock.advance(20_000);
    assert.deepEqual([channel.outbox.ended, channel.endKind, errors.length], [false, undefined, 1]);
    disk.isRefusing = false;
    clock.advance(8_000);
    assert.equal(channel.outbox.ended, true);
    assert.equal(disk.kept().length, 1);
    assert.equal(clock.pending, 0);
  });

  it('an end that the disk does not take holds back no other', async () => {
    const { disk, clock, over } = setup();
    const keep = disk.keep;
    disk.keep = (group) => {
      if (group.some(({ runId }) => runId === 'poison')) throw new Error('too large');
      keep(group);
    };
    const [poison, good] = [over('poison'), over('good')];
    await settle();
    clock.advance(250);
    assert.deepEqual([poison.outbox.ended, good.outbox.ended], [false, true]);
  });

  it('an end leaves unkept after 30 s, in words, and is kept as soon as the disk takes it', async () => {
    const { disk, clock, errors, keeper, over } = setup();
    disk.isRefusing = true;
    const channel = over('a');
    await settle();
    clock.advance(releaseAfterMs + 8_000);
    assert.deepEqual([channel.outbox.ended, disk.kept().length], [true, 0]);
    assert.match(errors.at(-1) ?? '', /leaves without being kept/);
    disk.isRefusing = false;
    clock.advance(8_000);
    const [kept] = disk.kept();
    assert.deepEqual([kept?.lastSeq, kept?.tail[0]?.lastSeq], [2, 1]);
    assert.equal(channel.outbox.lastSeq, 2);
    keeper.forget(channel);
    assert.deepEqual(disk.kept(), []);
  });

  it('K9: an end that is dropped while it waits for the disk is neither kept nor sent', async () => {
    const { disk, clock, keeper, over } = setup();
    disk.isRefusing = true;
    const channel = over('a');
    await settle();
    keeper.forget(channel);
    disk.isRefusing = false;
    clock.advance(60_000);
    assert.deepEqual([disk.kept(), channel.outbox.ended, clock.pending], [[], false, 0]);
  });

  it('a shutdown keeps at once what waits, and lets go what the disk refuses', async () => {
    const { disk, clock, errors, keeper, over } = setup();
    const [first] = [over('a')];
    keeper.flush();
    assert.deepEqual([disk.kept().length, first?.outbox.ended], [1, true]);
    disk.isRefusing = true;
    const second = over('b');
    keeper.flush();
    keeper.stop();
    await settle();
    assert.deepEqual([second.outbox.ended, errors.length, clock.pending], [true, 2, 0]);
  });
});
