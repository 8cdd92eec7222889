import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestNames } from './nearest.ts';

const known = ['qwen3-8b', 'qwen3-32b', 'llama-3.1-8b', 'echo', 'Qwen/Qwen3-8B'];

const cases: [asked: string, nearest: string[]][] = [
  ['qwen3-8', ['qwen3-8b', 'qwen3-32b', 'Qwen/Qwen3-8B']],
  ['QWEN3-8B', ['qwen3-8b', 'qwen3-32b', 'Qwen/Qwen3-8B']],
  ['ehco', ['echo']],
  ['coeh', []],
  ['echoo', ['echo']],
  ['llama', ['llama-3.1-8b']],
  ['gpt-4o', []],
  ['', []],
];

for (const [asked, nearest] of cases) {
  test(`whoever asks for "${asked}" is told of ${nearest.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(nearestNames(asked, known), nearest);
  });
}

test('an absurdly long name is answered in a moment', () => {
  const began = performance.now();
  nearestNames(
    'x'.repeat(1_000_000),
    Array.from({ length: 100 }, (_, i) => `${'y'.repeat(500)}${i}`),
  );
  assert.ok(performance.now() - began < 5000);
});
