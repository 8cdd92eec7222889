import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { version } from './version.ts';

test('all packages have the version that the programs print', () => {
  const root = join(import.meta.dirname, '../../../..');
  const manifests = ['package.json', ...globSync('{packages,apps}/*/package.json', { cwd: root })];
  assert.ok(manifests.length > 5);
  for (const path of manifests) {
    const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as { version: string };
    assert.equal(manifest.version, version, path);
  }
});
