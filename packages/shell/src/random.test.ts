import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRunId } from '@iop/domain';
import { createRunIdSource } from './random.ts';
import { createSystemClock } from './system-clock.ts';

test('run ids are well-formed and never the same', () => {
  const next = createRunIdSource(createSystemClock());
  const ids = new Set(Array.from({ length: 1_000 }, next));
  assert.equal(ids.size, 1_000);
  for (const id of ids) assert.ok(isRunId(id), id);
});
