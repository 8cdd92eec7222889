import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { OrphanLedger } from './orphan-ledger.ts';

const mark = 'a'.repeat(32);
const opened = { runId: 'run_1', attempt: 1, mark, cgroup: '/sys/fs/cgroup/iop-a' };
const leader = { pid: 4711, startedAt: 'boot/123' };

/** A ledger whose process was killed, and what it left on disk. */
function killedLedger(test: TestContext): { directory: string; file: string; left: () => unknown } {
  const directory = mkdtempSync(join(tmpdir(), 'iop-ledger-'));
  test.after(() => rmSync(directory, { recursive: true, force: true }));
  new OrphanLedger(directory).open(opened).started(leader);
  const file = join(directory, `${mark}.jsonl`);
  return { directory, file, left: () => new OrphanLedger(directory).left() };
}

test('what was written last counts', (test) => {
  assert.deepEqual(killedLedger(test).left(), [{ ...opened, leader }]);
});

test('half a line takes nothing from the line before it', (test) => {
  const { file, left } = killedLedger(test);
  appendFileSync(file, '{"runId":"run_1","att');
  assert.deepEqual(left(), [{ ...opened, leader }]);
});

test('a file of which nothing was written is still a mark', (test) => {
  const { file, left } = killedLedger(test);
  truncateSync(file);
  assert.deepEqual(left(), [{ runId: '', attempt: 0, mark, cgroup: '', leader: undefined }]);
});

test('what no ledger wrote is taken away or left alone, and proves nothing', (test) => {
  const { directory, file, left } = killedLedger(test);
  rmSync(file);
  writeFileSync(join(directory, 'note.jsonl'), '{"mark":"x"}');
  writeFileSync(join(directory, 'README'), 'of somebody');
  assert.deepEqual(left(), []);
  assert.deepEqual(readdirSync(directory), ['README']);
});

test('a run that is over leaves nothing', (test) => {
  const { directory } = killedLedger(test);
  const ledger = new OrphanLedger(directory);
  for (const record of ledger.left()) ledger.forget(record);
  assert.deepEqual(readdirSync(directory), []);
});
