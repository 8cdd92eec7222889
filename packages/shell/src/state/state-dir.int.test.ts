import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readSecretFile, writeSecretFile } from './secret-file.ts';
import { keepPrivate, openStateDir } from './state-dir.ts';

const root = mkdtempSync(join(tmpdir(), 'iop-state-'));
after(() => rmSync(root, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('a state directory is made with its parents and only for its owner', () => {
  const dir = openStateDir(join(root, 'a', 'b'));
  assert.equal(modeOf(dir), 0o700);
});

test('a state directory that others could enter is closed to them', () => {
  const dir = join(root, 'open');
  mkdirSync(dir);
  chmodSync(dir, 0o755);
  openStateDir(dir);
  assert.equal(modeOf(dir), 0o700);
});

test('a file in the way is named', () => {
  writeFileSync(join(root, 'file'), '');
  assert.throws(() => openStateDir(join(root, 'file')), {
    code: 'config.state-dir',
    message: /a file of that name/,
  });
  assert.throws(() => openStateDir(join(root, 'file', 'x')), {
    code: 'config.state-dir',
    message: /a part of the path/,
  });
});

test('a secret is written for its owner only and leaves nothing beside it', () => {
  const dir = openStateDir(join(root, 'secrets'));
  const path = join(dir, 'node.token');
  writeSecretFile(path, 'first\n');
  writeSecretFile(path, 'second\n');
  assert.equal(modeOf(path), 0o600);
  assert.equal(readSecretFile(path), 'second');
  assert.deepEqual(readdirSync(dir), ['node.token']);
});

test('a secret that others may read, that is empty or that is away is refused with what to do', () => {
  const path = join(root, 'loose');
  writeFileSync(path, 'x', { mode: 0o644 });
  chmodSync(path, 0o644);
  assert.throws(() => readSecretFile(path), { code: 'config.secret', message: /chmod 600/ });
  writeSecretFile(join(root, 'empty'), '\n');
  assert.throws(() => readSecretFile(join(root, 'empty')), /it is empty/);
  assert.throws(() => readSecretFile(join(root, 'none')), /there is no such file/);
});

test('a file that is to be private is, whether it was there or not', () => {
  const [fresh, known] = [join(root, 'fresh.db'), join(root, 'known.db')];
  writeFileSync(known, 'content', { mode: 0o644 });
  for (const file of [fresh, known]) assert.equal(modeOf(keepPrivate(file)), 0o600);
  assert.deepEqual([statSync(fresh).size, statSync(known).size], [0, 7]);
});
