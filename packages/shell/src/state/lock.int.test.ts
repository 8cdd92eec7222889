import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { lockStateDir } from './lock.ts';
import { isRunning, ownProcessIdentity } from './process-identity.ts';

const root = mkdtempSync(join(tmpdir(), 'iop-lock-'));
after(() => rmSync(root, { recursive: true }));
const newDir = (): string => mkdtempSync(join(root, 'd-'));

/** A child that locks `dir` and prints `held` or the error's code, then lives until it is killed. */
function lockInChild(dir: string) {
  const code = `import { lockStateDir } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)};
    try { lockStateDir(process.argv[1], 'child'); console.log('held'); } catch (e) { console.log(e.code); process.exit(0); }
    setTimeout(() => {}, 30_000);`;
  return spawn(process.execPath, ['--input-type=module', '-e', code, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLine(child: ReturnType<typeof lockInChild>): Promise<string> {
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return chunk.toString().trim();
}

test('a second one on the same directory is refused, naming the pid of the first', () => {
  const dir = newDir();
  using lock = lockStateDir(dir, 'iop-edge');
  assert.throws(() => lockStateDir(dir, 'iop-edge'), {
    code: 'state-dir.locked',
    kind: 'conflict',
    message: new RegExp(`in use by iop-edge, pid ${process.pid};`),
  });
  lock.release();
  lockStateDir(dir, 'iop-edge').release();
  assert.deepEqual(readdirSync(dir), []);
});

test('the lock of a killed process is taken over', async () => {
  const dir = newDir();
  const child = lockInChild(dir);
  assert.equal(await firstLine(child), 'held');
  assert.throws(() => lockStateDir(dir, 'x'), { details: { path: dir, pid: child.pid } });
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(existsSync(join(dir, 'lock')));
  lockStateDir(dir, 'x').release();
});

test('a pid that was given to another process does not hold a lock', () => {
  const dir = newDir();
  writeFileSync(
    join(dir, 'lock'),
    JSON.stringify({ pid: process.pid, startedAt: 'another boot/1', program: 'x' }),
  );
  lockStateDir(dir, 'x').release();
});

test('a lock file that is no lock is replaced', () => {
  const dir = newDir();
  writeFileSync(join(dir, 'lock'), '');
  lockStateDir(dir, 'x').release();
});

test('of several that find a stale lock only one gets it', async () => {
  const dir = newDir();
  writeFileSync(join(dir, 'lock'), JSON.stringify({ pid: 1, startedAt: 'gone', program: 'x' }));
  const children = [1, 2, 3, 4].map(() => lockInChild(dir));
  const said = await Promise.all(children.map(firstLine));
  for (const child of children) child.kill('SIGKILL');
  assert.deepEqual(said.sort(), ['held', 'state-dir.locked', 'state-dir.locked', 'state-dir.locked']);
});

test('a process knows itself as running and a dead one as gone', async () => {
  assert.ok(isRunning(ownProcessIdentity()));
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  assert.equal(isRunning({ pid: child.pid ?? 0, startedAt: '' }), false);
});
