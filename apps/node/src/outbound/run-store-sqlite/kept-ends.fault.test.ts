// F18: an end is kept when the disk has it, not when the kernel has; seen from outside, by its system calls.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const fixture = fileURLToPath(new URL('./fixture-commits.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'iop-sync-'));
after(() => rmSync(directory, { recursive: true }));
const hasStrace = spawnSync('strace', ['-V']).error === undefined;

/** How often it waits for the disk between its two marks. */
function syncsOf(what: string): number {
  const trace = join(directory, `${what}.trace`);
  const calls = ['-f', '-e', 'trace=fsync,fdatasync,chdir', '-o', trace];
  spawnSync('strace', [...calls, process.execPath, fixture, join(directory, 'history.db'), what], {
    timeout: 60_000,
  });
  const marked = readFileSync(trace, 'utf8').split('chdir("/")');
  assert.equal(marked.length, 3);
  return marked[1]?.match(/f(data)?sync\(/g)?.length ?? 0;
}

it('F18: keeping waits for the disk once for every commit, forgetting never', { skip: !hasStrace }, () => {
  assert.ok(syncsOf('keep') >= 5);
  assert.equal(syncsOf('forget'), 0);
});
