// F17: the disk of the Edge is full. What has to be committed first is refused with 503 and when to ask again, what is
// attached goes on, a detached run that is under way waits and is whole when the disk is free again, unaided.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { chat, contentOf } from './harness/chat.ts';
import { createEdge, type Edge } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import { resumedChat } from './harness/resumed-chat.ts';
import { openWorld, type World } from './harness/world.ts';

const limit = { timeout: 120_000 };
const skip = process.getuid?.() === 0 ? undefined : 'only root may mount a tmpfs';
const words = Array.from({ length: 200 }, (_, index) => `w${index}`).join(' ');
const slow = `<mock>${JSON.stringify({ text: words, pace_ms: 40 })}</mock>`;

describe('F17: a full disk', { timeout: 240_000, ...(skip !== undefined && { skip }) }, () => {
  let world: World;
  let edge: Edge;
  let disk: string;
  before(async () => {
    world = openWorld();
    disk = join(world.dir, 'disk');
    mkdirSync(disk);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk], {
      encoding: 'utf8',
    });
    assert.equal(mounted.status, 0, mounted.stderr);
    world.defer(() => void spawnSync('umount', ['-l', disk]));
    edge = await createEdge(join(disk, 'edge'), {});
    world.defer(async () => void (await edge.program?.stop()));
    await edge.start();
    await world.node(edge, { name: 'n1' });
  });
  after(() => world?.close());

  test('refuses what must be committed, goes on with the rest, and recovers unaided', limit, async () => {
    const going = resumedChat(edge, slow, 'before-it-was-full');
    await eventually('it says something', 10_000, () => going.text.length > 2_000);
    fill(disk);
    const refused = await eventually('a creation is refused', 30_000, async () => {
      const answer = await chat(edge, { model: 'echo', headers: { 'x-iop-on-disconnect': 'continue' } })
        .answer;
      return answer.status === 200 ? undefined : answer;
    });
    assert.equal(refused.status, 503);
    assert.ok(Number(refused.headers['retry-after']) >= 1);
    assert.match(refused.text, /"code":"store.unavailable"/);

    const attached = await chat(edge, { model: 'echo', prompt: 'still here' }).answer;
    assert.equal(contentOf(attached.text), 'still here');

    rmSync(join(disk, 'ballast'));
    assert.ok((await going.whole).endsWith('data: [DONE]\n\n'));
    assert.ok(going.text.includes('w199'));
    await eventually('a creation is taken again', 30_000, async () => {
      const again = chat(edge, { model: 'echo', headers: { 'x-iop-on-disconnect': 'continue' } });
      return (await again.answer).status === 200;
    });
    assert.deepEqual((await edge.runEnded(String(going.runId), 10_000)).end, {
      kind: 'completed',
      finish: 'stop',
    });
    assert.deepEqual(await edge.program.stop().then(({ code }) => code), 0);
    assert.equal(integrityOf(join(disk, 'edge', 'state.db')), 'ok');
  });
});

/** Leaves nothing. */
function fill(disk: string): void {
  const file = openSync(join(disk, 'ballast'), 'w');
  try {
    for (let written = 0; written < 64 * 1024 * 1024; written += 4096) writeSync(file, Buffer.alloc(4096));
    throw new Error('the disk is not as small as it should be');
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'ENOSPC') throw reason;
  } finally {
    closeSync(file);
  }
}

function integrityOf(file: string): unknown {
  const db = new DatabaseSync(file);
  try {
    return db.prepare('PRAGMA integrity_check').get()?.integrity_check;
  } finally {
    db.close();
  }
}
