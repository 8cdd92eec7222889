import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './nearest.ts';

test('a typo finds the name that was meant', () => {
  const known = ['http', 'wire', 'adapters', 'models', 'limits', 'state_dir'];
  assert.equal(nearest('adaptors', known), 'adapters');
  assert.equal(nearest('htpt', known), 'http');
  assert.equal(nearest('statedir', known), 'state_dir');
  assert.equal(nearest('MODELS', known), 'models');
});

test('something else finds nothing', () => {
  assert.equal(nearest('database', ['http', 'wire']), undefined);
  assert.equal(nearest('', ['http']), undefined);
});
