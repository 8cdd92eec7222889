import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTempDir } from '../../testing/temp-dir.ts';
import { assertAcked, startWriting } from './acked.fixture.ts';

const hasStrace = spawnSync('strace', ['-V']).status === 0;
const needsStrace = hasStrace ? false : 'strace is not installed';

test('F18: 30 times killed at random points: all that was acknowledged is there, nothing is torn', {
  timeout: 600_000,
}, async () => {
  await using dir = await createTempDir();
  let acked = 0;
  for (let round = 0; round < 30; round++) {
    const file = join(dir.path, `state-${round % 6}.db`);
    const writing = startWriting(file);
    await writing.said('created');
    await sleep(Math.random() * 400);
    await writing.kill();
    acked += writing.lines().length;
    await assertAcked(file, writing.lines());
  }
  assert.ok(acked > 300, `${acked} acknowledgements`);
});

describe('power cuts and failing disks', { skip: needsStrace, timeout: 600_000 }, () => {
  test('F18: with the log of the database cut where it was last synced, all that was acknowledged is there', async () => {
    await using dir = await createTempDir();
    for (let round = 0; round < 5; round++) {
      const file = join(dir.path, `state-${round}.db`);
      const trace = join(dir.path, `trace-${round}`);
      const calls = 'trace=pwrite64,fsync,fdatasync,ftruncate';
      const writing = startWriting(file, ['strace', '-f', '-y', '-s', '0', '-e', calls, '-o', trace]);
      await writing.said('ended', 10 + round * 5);
      await writing.kill();
      const cut = join(dir.path, `cut-${round}.db`);
      await copyFile(file, cut);
      await copyFile(`${file}-wal`, `${cut}-wal`);
      await truncate(`${cut}-wal`, syncedBytes(await readFile(trace, 'utf8'), `${file}-wal`));
      await assertAcked(cut, writing.lines());
    }
  });

  for (const [name, inject] of [
    ['F19: a sync that fails', 'fsync,fdatasync:error=EIO:when=12..20'],
    ['F19: a write that finds no room', 'pwrite64:error=ENOSPC:when=300..420'],
    ['F19: a write that fails', 'pwrite64:error=EIO:when=300..420'],
  ] as const) {
    test(`${name} is told and acknowledges nothing; it recovers unaided`, async () => {
      await using dir = await createTempDir();
      const file = join(dir.path, 'state.db');
      const under = ['strace', '-f', '-P', file, '-P', `${file}-wal`, '-e', `inject=${inject}`];
      const writing = startWriting(file, [...under, '-o', '/dev/null']);
      await writing.said('problem');
      await writing.said('fine');
      const after = writing.lines().length;
      await writing.said('ended', writing.lines().filter((line) => line.startsWith('ended')).length + 20);
      assert.ok(
        writing
          .lines()
          .slice(after)
          .every((line) => !line.startsWith('problem')),
      );
      await writing.kill();
      await assertAcked(file, writing.lines());
      const db = new DatabaseSync(file);
      assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
      db.close();
    });
  }
});

/** How much of a file was there for sure at the last sync: where the writes before it ended, since it began anew. */
function syncedBytes(trace: string, file: string): number {
  let [written, synced] = [0, 0];
  for (const line of trace.split('\n')) {
    if (!line.includes(`<${file}>`)) continue;
    const write = /pwrite64\(.*, (\d+), (\d+)\)/.exec(line);
    if (write !== null) {
      const [size, at] = [Number(write[1]), Number(write[2])];
      // the header is written when it begins anew
      if (at === 0) synced = 0;
      written = at + size;
    } else if (line.includes('sync(')) synced = written;
  }
  return synced;
}
