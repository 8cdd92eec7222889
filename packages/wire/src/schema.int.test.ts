import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };

function buf(args: readonly string[], cwd = root): void {
  const done = spawnSync(join(bin, 'buf'), args, { cwd, env, encoding: 'utf8', timeout: 60_000 });
  assert.equal(done.status, 0, `buf ${args.join(' ')}\n${done.stdout}${done.stderr}`);
}

function hasHistory(): boolean {
  const asked = spawnSync('git', ['cat-file', '-e', 'HEAD:packages/wire/proto'], {
    cwd: root,
    timeout: 10_000,
  });
  return asked.status === 0;
}

function filesBelow(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = names.map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.sort().map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]));
}

test('the .proto files pass buf lint', () => buf(['lint']));

const skip = hasHistory()
  ? false
  : 'wire-breaking: this copy of the repository has no history to compare with';

test('the .proto files break nothing of what HEAD has', { skip }, () => {
  const git = execFileSync('git', ['rev-parse', '--git-common-dir'], { cwd: root, encoding: 'utf8' }).trim();
  buf(['breaking', '--against', `${join(root, git === '.git' ? '.git' : git)}#ref=HEAD`]);
});

test('generating the code again changes nothing', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'iop-wire-'));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of ['buf.yaml', 'buf.gen.yaml', 'packages/wire/proto']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  buf(['generate'], copy);
  const [fresh, committed] = [copy, root].map((base) => filesBelow(join(base, 'packages/wire/src/gen')));
  assert.deepEqual(fresh, committed, 'run `npm run gen` and commit the result');
});
