import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouteTable } from './route-table.ts';

test('a path has the methods of all routes that cover it', () => {
  const table = createRouteTable();
  table.add('GET', '/v1/models');
  table.add('GET', '/v1/models/*');
  table.add('POST', '/v1/chat/completions');
  assert.equal(table.allowed('/v1/models'), 'GET, HEAD, OPTIONS');
  assert.equal(table.allowed('/v1/models/'), 'GET, HEAD, OPTIONS');
  assert.equal(table.allowed('/v1/models/a/b'), 'GET, HEAD, OPTIONS');
  assert.equal(table.allowed('/v1/chat/completions'), 'POST, OPTIONS');
  assert.equal(table.allowed('/v1/chat'), undefined);
});
