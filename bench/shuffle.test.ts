import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, shuffle } from './shuffle.ts';

const names = ['a', 'b', 'c', 'd', 'e'];

test('one seed gives one order, another seed another', () => {
  const first = shuffle(names, createRandom(1));
  assert.deepEqual(shuffle(names, createRandom(1)), first);
  assert.notDeepEqual(shuffle(names, createRandom(2)), first);
});

test('everything is in the order once', () => {
  assert.deepEqual(shuffle(names, createRandom(7)).sort(), names);
});
