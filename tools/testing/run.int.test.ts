import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isAlive, watchDescendants } from './descendants.ts';

const dir = mkdtempSync(join(tmpdir(), 'iop-tools-'));
after(() => rmSync(dir, { recursive: true }));

const reporter = join(import.meta.dirname, 'reporter.ts');

/** Runs a test file of its own under our reporter. */
function report(text: string, rows: unknown[] = []): { code: number | null; out: string } {
  const file = join(dir, 'planted.test.mjs');
  const rules = join(dir, 'rules.json');
  writeFileSync(file, `import test, { describe } from 'node:test';\n${text}`);
  writeFileSync(rules, JSON.stringify({ rows }));
  const done = spawnSync(
    process.execPath,
    ['--test', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout', file],
    {
      encoding: 'utf8',
      timeout: 60_000,
      // Ours is a test of a test run: the inner one must not think that it is a part of the outer one.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, IOP_NEVER_SKIP: rules },
    },
  );
  return { code: done.status, out: done.stdout };
}

test('skips are listed by name before the closing summary', () => {
  const { code, out } = report(
    `describe('suite', () => { test('on a GPU', { skip: 'no GPU here' }, () => {}); test('ok', () => {}); });`,
  );
  assert.equal(code, 0, out);
  const list = out.indexOf('Skipped, by name:');
  assert.match(out.slice(list), /planted\.test\.mjs: suite > on a GPU: no GPU here/);
  assert.match(out.slice(list), /tests 2[\s\S]*pass 1[\s\S]*skipped 1/);
});

test('a skipped row that may never be skipped fails the run', () => {
  const path = join('..', '..', 'x');
  const first = report(`test('row', { skip: 'tired' }, () => {});`);
  const file = /^ {2}(\S+planted\.test\.mjs):/m.exec(first.out)?.[1] ?? path;
  const { code, out } = report(`test('row', { skip: 'tired' }, () => {});`, [{ file, why: 'it matters' }]);
  assert.equal(code, 1, out);
  assert.match(out, /May never be skipped, but:\n.*was skipped \(tired\); it matters/);
});

test('a failing test fails the run and is named', () => {
  const { code, out } = report(`test('breaks', () => { throw new Error('x'); });`);
  assert.equal(code, 1);
  assert.match(out, /failing tests:[\s\S]*breaks/);
});

test('a process that lost its parents is still known', async () => {
  const watch = watchDescendants(process.pid, 20);
  const orphan = `const c = require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20000)'], { detached: true, stdio: 'ignore' }); c.unref(); console.log(c.pid); setTimeout(() => process.exit(), 300);`;
  const child = spawn(process.execPath, ['-e', orphan], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = await new Promise<number>((resolve) =>
    child.stdout.once('data', (data) => resolve(Number(data))),
  );
  await new Promise((resolve) => child.once('exit', resolve));
  const left = watch.stop();
  process.kill(pid, 'SIGKILL');
  assert.deepEqual(
    left.map((seen) => seen.pid),
    [pid],
  );
  for (let waits = 0; waits < 100 && left.some(isAlive); waits++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(left.some(isAlive), false);
});
