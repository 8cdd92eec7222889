import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '@iop/link/testing';
import type { Log } from '@iop/shell';
import { createRefusalLog } from './refusal-log.ts';

test('the first is told at once, thousands after it as one sum, and then it is quiet', () => {
  const clock = createManualClock();
  const told: unknown[] = [];
  const log = { error: (fields: { turnedAway: number }) => told.push(fields.turnedAway) } as unknown as Log;
  const refused = createRefusalLog(log, clock);
  for (let i = 0; i < 5000; i++) refused('accept EMFILE');
  assert.deepEqual(told, [1]);
  clock.advance(10_000);
  assert.deepEqual(told, [1, 4999]);
  clock.advance(60_000);
  assert.deepEqual(told, [1, 4999]);
  refused('accept EMFILE');
  assert.deepEqual(told, [1, 4999, 1]);
});
