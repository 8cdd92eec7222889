import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadiness } from './readiness.ts';

test('an Edge is ready when every part works, and says what does not', () => {
  const health = createReadiness(['store', 'wire']);
  assert.deepEqual(health.check(), { ready: false, detail: 'store: not started; wire: not started' });
  health.set('store', undefined);
  health.set('wire', undefined);
  assert.deepEqual(health.check(), { ready: true, detail: '' });
  health.set('store', 'the disk is full');
  assert.deepEqual(health.check(), { ready: false, detail: 'store: the disk is full' });
});
