import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';

test('durations with a unit are read as milliseconds', () => {
  assert.deepEqual(
    ['300ms', '15s', '2m', '1.5h', '7d', '0', 0].map(parseDuration),
    [300, 15_000, 120_000, 5_400_000, 604_800_000, 0, 0],
  );
});

test('what is no duration is not guessed at', () => {
  for (const bad of ['15', 15, '-1s', '1 week', '', 's', null, undefined, {}, 'constructor']) {
    assert.equal(parseDuration(bad), undefined, String(bad));
  }
});

test('sizes are read as bytes', () => {
  assert.deepEqual(['64KiB', '32MiB', '1GiB', '10', 10, '1kB'].map(parseSize), [
    65_536,
    2 ** 25,
    2 ** 30,
    10,
    10,
    1_000,
  ]);
  for (const bad of ['64K', -1, 1.5, '1 XB', null]) assert.equal(parseSize(bad), undefined, String(bad));
});

test('what is written is read back the same', () => {
  for (const value of [0, 1, 300, 1_000, 61_000, 60_000, 86_400_000]) {
    assert.equal(parseDuration(formatDuration(value)), value);
  }
  for (const value of [0, 1, 1_000, 1_024, 2 ** 25, 2 ** 30 + 1])
    assert.equal(parseSize(formatSize(value)), value);
  assert.equal(formatSize(2 ** 25), '32MiB');
});
