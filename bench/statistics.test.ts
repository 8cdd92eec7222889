import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, pairedDifference, quantile, Samples, summarize } from './statistics.ts';

test('a quantile is a value that was measured, by nearest rank', () => {
  const sorted = Array.from({ length: 100 }, (_, at) => at + 1);
  assert.equal(quantile(sorted, 0.5), 50);
  assert.equal(quantile(sorted, 0.99), 99);
  assert.equal(quantile([7], 0.99), 7);
  assert.equal(quantile([], 0.5), Number.NaN);
});

test('a summary does not need its samples in order', () => {
  assert.deepEqual(summarize([3, 1, 2]), { count: 3, p50: 2, p99: 3, max: 3 });
  assert.deepEqual(summarize([]), { count: 0, p50: Number.NaN, p99: Number.NaN, max: Number.NaN });
});

test('the median of an even number of values is the mean of the middle two', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([10, 1, 2]), 2);
  assert.equal(median([]), Number.NaN);
});

test('a difference is taken within each round, so a slow round does not show', () => {
  const direct = new Map([
    [1, 100],
    [2, 900],
    [3, 110],
  ]);
  const mine = new Map([
    [1, 150],
    [2, 950],
    [3, 160],
  ]);
  assert.equal(pairedDifference(mine, direct), 50);
});

test('a round that lacks one side does not count', () => {
  const mine = new Map([
    [1, 10],
    [2, 30],
  ]);
  assert.equal(pairedDifference(mine, new Map([[2, 5]])), 25);
  assert.equal(pairedDifference(mine, new Map()), Number.NaN);
});

test('samples keep all that was pushed beyond their first size', () => {
  const samples = new Samples();
  for (let value = 0; value < 5000; value++) samples.push(value);
  assert.equal(samples.count, 5000);
  assert.equal(samples.values()[4999], 4999);
});
