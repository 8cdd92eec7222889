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
  const firstOf = (fleetSize: number): number => {
    backoff.reset();
    backoff.setFleetSize(fleetSize);
    return delays(backoff, 1)[0] ?? 0;
  };
  assert.deepEqual([10, 64, 500, 1000, 3000, 10_000].map(firstOf), [500, 1000, 7812, 8000, 12_000, 16_000]);
});

for (const fleetSize of [500, 1000, 2000]) {
  for (const downMs of [1_500, 5_000, 10_000]) {
    test(`F1: ${fleetSize} that lose their server for ${downMs} ms do not come in a herd`, () => {
      const { attempts, lastMs } = rejoin(fleetSize, downMs);
      const mean = attempts.length / (lastMs / 1000);
      assert.ok(busiestSecond(attempts) <= 3 * mean, `${busiestSecond(attempts)} and ${mean} a second`);
      assert.ok(lastMs <= downMs + 30_000);
    });
  }
}

/** When each attempt is made until everybody is back; the server is there again after `downMs`. */
function rejoin(fleetSize: number, downMs: number): { attempts: number[]; lastMs: number } {
  const random = seeded(fleetSize + downMs);
  const attempts: number[] = [];
  for (let peer = 0; peer < fleetSize; peer++) {
    const backoff = new Backoff(random);
    backoff.setFleetSize(fleetSize);
    for (let atMs = backoff.nextMs(); ; atMs += backoff.nextMs()) {
      attempts.push(atMs);
      if (atMs > downMs) break;
    }
  }
  attempts.sort((a, b) => a - b);
  return { attempts, lastMs: attempts.at(-1) ?? 0 };
}

function busiestSecond(attempts: readonly number[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < attempts.length; last++) {
    while ((attempts[last] ?? 0) - (attempts[first] ?? 0) > 1000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** Park and Miller's generator: the same schedule at every run. */
function seeded(seed: number): () => number {
  let state = (seed % 2147483646) + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return (state - 1) / 2147483646;
  };
}

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
