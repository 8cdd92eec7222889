// F11: a number alone proves nothing (C13).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const inNamespace = ['--pid', '--fork', '--kill-child', '--mount-proc'];
const mayDivide = spawnSync('unshare', [...inNamespace, 'true'], { timeout: 10_000 }).status === 0;
const fixture = fileURLToPath(new URL('./fixture-pid-reuse.ts', import.meta.url));

describe('F11: a sweep', () => {
  it('does not touch a foreign process that has got the number of a leader', {
    timeout: 60_000,
    ...(mayDivide ? {} : { skip: 'needs to make a pid namespace' }),
  }, (test) => {
    const directory = mkdtempSync(join(tmpdir(), 'iop-cli-'));
    test.after(() => rmSync(directory, { recursive: true }));
    const args = [...inNamespace, process.execPath, fixture, directory];
    const done = spawnSync('unshare', args, { encoding: 'utf8', timeout: 50_000 });
    assert.equal(done.status, 0, done.stderr);
    const { pid, foreign, left, survived } = JSON.parse(done.stdout);
    assert.equal(foreign, pid, 'the number was not given again');
    assert.equal(survived, true, 'the foreign process was ended');
    assert.equal(left, 0, 'the run of before is still in the ledger');
  });
});
