import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../arch/scan-imports.ts';
import { collectTestFiles, kindsOf, listTestFiles } from './collect-files.ts';
import type { NeverSkip } from './skip-rules.ts';

test('every test file is of exactly one kind, so none is forgotten and none runs twice', () => {
  const files = listTestFiles();
  assert.ok(files.length > 20, `${files.length} files`);
  assert.deepEqual(
    files.filter((file) => kindsOf(file).length !== 1),
    [],
  );
});

test('the kinds are told apart by their names', () => {
  assert.deepEqual(kindsOf('packages/shell/src/log.test.ts'), ['unit']);
  assert.deepEqual(kindsOf('packages/shell/src/state/lock.int.test.ts'), ['int']);
  assert.deepEqual(kindsOf('e2e/up.test.ts'), ['e2e']);
  assert.deepEqual(kindsOf('e2e/llama.live.test.ts'), ['live']);
  assert.deepEqual(kindsOf('apps/edge/test/f1.fault.test.ts'), ['fault']);
  assert.deepEqual(kindsOf('tools/arch.test.ts'), ['tools']);
});

test('only files that are there are collected', () => {
  assert.ok(collectTestFiles(['unit']).every((file) => existsSync(join(root, file))));
});

test('every row that may never be skipped names a file that a full run runs', () => {
  const { rows } = JSON.parse(readFileSync(join(root, 'tools/testing/never-skip.json'), 'utf8')) as {
    rows: NeverSkip[];
  };
  const run = new Set(collectTestFiles(['unit', 'tools', 'int', 'e2e']));
  assert.deepEqual(
    rows.map(({ file }) => file).filter((file) => !run.has(file)),
    [],
  );
});
