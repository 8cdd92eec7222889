import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenSkipRules, type SeenTest } from './skip-rules.ts';

const seen = (outcome: SeenTest['outcome'], name = 'suite > story one'): SeenTest => ({
  file: 'e2e/a.test.ts',
  name,
  outcome,
  reason: 'no port',
});
const rule = { file: 'e2e/a.test.ts', why: 'it matters' };

test('a row that ran breaks nothing', () => {
  assert.deepEqual(
    brokenSkipRules([rule, { ...rule, test: 'story' }, { ...rule, test: 'suite' }], [seen('passed')]),
    [],
  );
});

test('a row that was skipped is named with both reasons', () => {
  assert.deepEqual(brokenSkipRules([rule], [seen('passed'), seen('skipped')]), [
    'e2e/a.test.ts was skipped (no port); it matters',
  ]);
});

test('a row that did not run at all is as bad as a skipped one', () => {
  assert.deepEqual(brokenSkipRules([rule], []), ['e2e/a.test.ts did not run; it matters']);
  assert.equal(brokenSkipRules([{ ...rule, test: 'story two' }], [seen('passed')]).length, 1);
});

test('a skip that no row names is nobody’s business', () => {
  assert.deepEqual(
    brokenSkipRules([{ ...rule, test: 'story one' }], [seen('passed'), seen('skipped', 'suite > other')]),
    [],
  );
});
