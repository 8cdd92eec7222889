import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultWindowBytes, smallestWindowBytes, WindowBudget } from './window-budget.ts';

test('a few runs get whole windows', () => {
  const budget = new WindowBudget();
  for (let run = 0; run < 100; run++) assert.equal(budget.take(), defaultWindowBytes);
});

test('many runs get smaller windows, never below the floor, and the sum stays near the limit', () => {
  const budget = new WindowBudget();
  const windows = Array.from({ length: 1000 }, () => budget.take());
  assert.ok(windows.every((size, at) => at === 0 || size <= (windows[at - 1] as number)));
  assert.equal(windows.at(-1), smallestWindowBytes);
  assert.ok(budget.takenBytes <= 64 * 1024 * 1024 + 500 * smallestWindowBytes);
});

test('what ended runs give back can be given out again', () => {
  const budget = new WindowBudget(1024 * 1024);
  const windows = Array.from({ length: 200 }, () => budget.take());
  for (const size of windows) budget.release(size);
  assert.deepEqual([budget.takenBytes, budget.take()], [0, defaultWindowBytes]);
});
