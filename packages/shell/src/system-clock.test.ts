import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from './system-clock.ts';

test('soon calls before any timer, and a cancelled timer never', async () => {
  const clock = createSystemClock();
  const seen: string[] = [];
  const cancel = clock.after(0, () => seen.push('cancelled'));
  await new Promise<void>((resolve) => {
    clock.after(1, () => {
      seen.push('timer');
      resolve();
    });
    clock.soon(() => seen.push('soon'));
    cancel();
  });
  assert.deepEqual(seen, ['soon', 'timer']);
});

test('a wait beyond what a platform timer can hold does not fire at once', async () => {
  const clock = createSystemClock();
  let fired = false;
  const cancel = clock.after(2 ** 31, () => {
    fired = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  cancel();
  assert.equal(fired, false);
});

test('now never goes back', () => {
  const clock = createSystemClock();
  const first = clock.now();
  assert.ok(clock.now() >= first);
});
