// F15: callers that stop reading among others that go on. What they do not read is not held for them, nobody
// else notices, and after `stall_after` their runs end with a reason.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import type { Call } from './harness/http.ts';
import type { Program } from './harness/program.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const stalledCount = 20;
/** Per stalled run: its window of 256 KiB and a megabyte of everything else; once: what a heap moves by itself. */
const allowedBytes = stalledCount * (256 * 1024 + (1 << 20)) + (48 << 20);

describe('F15: callers that stop reading', { timeout: 400_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene({ limits: { stall_after: '15s' } });
    at(scene.upstreams, 0).act((seen) =>
      at(seen.body.messages, 0).content === 'torrent'
        ? { kind: 'torrent', sizeBytes: 64 << 20 }
        : { kind: 'stream', chunks: Array(200).fill('x'), paceMs: 5 },
    );
  });
  after(() => scene?.world.close());

  test('cost no more than their window, disturb nobody and are ended', { timeout: 200_000 }, async () => {
    const programs = { edge: scene.edge.program, node: at(scene.nodes, 0).program };
    // Heaps grow by use: what reading costs is in the baseline.
    await wholeTorrent();
    await othersReadAll();
    const was = { edge: programs.edge.memoryBytes(), node: programs.node.memoryBytes() };

    const stalled = await Promise.all(Array.from({ length: stalledCount }, stall));
    await untilIdle(Object.values(programs));
    await othersReadAll();
    for (const part of ['edge', 'node'] as const) {
      const grown = programs[part].memoryBytes() - was[part];
      assert.ok(grown <= allowedBytes, `the ${part} grew by ${(grown / 2 ** 20).toFixed(1)} MiB`);
    }

    await eventually('the stalled runs end', 40_000, async () =>
      (await scene.edge.runs()).every((run) => run.end !== undefined),
    );
    const failed = (await scene.edge.runs()).filter((run) => run.end?.kind === 'failed');
    assert.equal(failed.length, stalledCount);
    for (const run of failed) assert.deepEqual(run.end, { kind: 'failed', code: 'run.stalled' });
    await eventually('their upstreams are closed', 5_000, () => at(scene.upstreams, 0).open() === 0);
    for (const asking of stalled) await endsBroken(asking);
  });

  test('and then hang up: their runs end at once, though nobody took what was under way', {
    timeout: 100_000,
  }, async () => {
    // Whether a Node holds something unsent depends on how its reads fell, so it takes a few.
    const stalled = await Promise.all(Array.from({ length: 8 }, stall));
    await untilIdle([scene.edge.program, at(scene.nodes, 0).program]);
    for (const asking of stalled) asking.hangUp();
    await eventually('their runs have ended', 3_000, async () =>
      (await scene.edge.runs()).slice(0, 8).every((run) => run.end !== undefined),
    );
    for (const run of (await scene.edge.runs()).slice(0, 8)) {
      assert.deepEqual(run.end, { kind: 'cancelled', by: 'caller' });
    }
  });

  async function wholeTorrent() {
    const { text } = await chat(scene.edge, { stream: true, prompt: 'torrent' }).answer;
    assert.equal(readStream(text.slice(-1_000)).done, true);
  }

  async function stall(): Promise<Call> {
    const asking = chat(scene.edge, { stream: true, prompt: 'torrent' });
    await asking.head;
    asking.pause();
    return asking;
  }

  /** Until all windows and all buffers of the kernel on the way are full: then nothing moves any more. */
  async function untilIdle(programs: readonly Program[]) {
    const used = () => programs.reduce((sum, program) => sum + program.cpuMs(), 0);
    await eventually('nothing moves any more', 14_000, async () => {
      const before = used();
      await sleep(300);
      return used() - before <= 30;
    });
  }

  /** Twenty paced readers get all of their answers. (How evenly is not judged: it would be the machine that is.) */
  async function othersReadAll(): Promise<void> {
    const calls = Array.from({ length: 20 }, () => chat(scene.edge, { stream: true }));
    for (const { answer } of calls) {
      const reading = readStream((await answer).text);
      assert.equal(reading.content.length, 200);
      assert.equal(reading.done, true);
    }
  }

  /** Whoever reads on after all finds a broken answer, never a whole one. */
  async function endsBroken(asking: Call) {
    asking.resume();
    const text = await asking.answer.then(
      (answer) => answer.text,
      () => asking.text,
    );
    assert.equal(readStream(text.slice(-2_000)).done, false);
    asking.hangUp();
  }
});
