import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openaiStyle } from './answer-style.ts';
import { createRouteTable } from './route-table.ts';

test('a path has the methods of all routes that cover it', () => {
  const table = createRouteTable();
  table.add({ method: 'GET', url: '/v1/models', style: openaiStyle });
  table.add({ method: 'GET', url: '/v1/models/*', style: openaiStyle });
  table.add({ method: 'POST', url: '/v1/chat/completions', style: openaiStyle });
  assert.equal(table.allowed('/v1/models'), 'GET, HEAD, OPTIONS');
  assert.equal(table.allowed('/v1/models/'), 'GET, HEAD, OPTIONS');
  assert.equal(table.allowed('/v1/models/a/b'), 'GET, HEAD, OPTIONS');
  assert.equal(table.allowed('/v1/chat/completions'), 'POST, OPTIONS');
  assert.equal(table.allowed('/v1/chat'), undefined);
});

test('a path is refused in the style of its route, every other one in that of OpenAI', () => {
  const table = createRouteTable();
  const style = { encodeError: () => '{}' };
  table.add({ method: 'POST', url: '/v1/messages', style });
  assert.equal(table.styleOf('/v1/messages'), style);
  assert.equal(table.styleOf('/v1/messages/more'), openaiStyle);
});
