import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff, backoffCapMs } from './backoff.ts';

const most = (): Backoff => new Backoff(() => 0.999999);

function delays(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => Math.round(backoff.nextMs()));
}

test('delays grow from half a second to the cap and stay there (L13)', () => {
  assert.deepEqual(delays(most(), 8), [500, 1000, 2000, 4000, 8000, 16_000, 16_000, 16_000]);
  assert.ok(delays(most(), 5000).every((delay) => delay <= backoffCapMs));
});

test('a large fleet spreads from the first attempt on (L13)', () => {
  const backoff = most();
  backoff.setFleetSize(1000);
  assert.deepEqual(delays(backoff, 4), [4000, 8000, 16_000, 16_000]);
});

test('jitter is full: anything between nothing and the limit (L13)', () => {
  assert.equal(new Backoff(() => 0).nextMs(), 0);
});

test('what the server asked for is never undercut, and bounded (L13)', () => {
  assert.equal(new Backoff(() => 0).nextMs(7000), 7000);
  assert.equal(new Backoff(() => 0).nextMs(2 ** 32 - 1), 600_000);
});

test('a reset starts anew (L13)', () => {
  const backoff = most();
  delays(backoff, 5);
  backoff.reset();
  assert.deepEqual(delays(backoff, 2), [500, 1000]);
});
