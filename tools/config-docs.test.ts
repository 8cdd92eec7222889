import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { describeConfig } from '@iop/shell';
import { configPages } from './config-docs/pages.ts';

for (const { path, file, declaration, text } of configPages) {
  test(`${path} says what the declaration says`, () => {
    assert.equal(readFileSync(file, 'utf8'), text, 'run `npm run gen`');
  });

  test(`${path} has words for every key`, () => {
    const rows = describeConfig(declaration);
    assert.ok(rows.length > 5, `${rows.length} keys`);
    const silent = rows.filter((row) => row.summary === '').map((row) => row.path);
    assert.deepEqual(silent, []);
  });
}
