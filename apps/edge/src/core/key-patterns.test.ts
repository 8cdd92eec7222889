import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePatterns } from './key-patterns.ts';

test('a pattern means a name, or with * any text in its place', () => {
  const rows: [string, string, boolean][] = [
    ['qwen', 'qwen', true],
    ['qwen', 'qwen2', false],
    ['gpu/*', 'gpu/Qwen/Qwen3-8B', true],
    ['gpu/*', 'gpu', false],
    ['*', '', true],
    ['*-8B', 'Qwen3-8B', true],
    ['a*b*c', 'a--b--c', true],
    ['a*b*c', 'acb', false],
    ['a*b', 'ab', true],
    ['ab*ba', 'aba', false],
    ['a*a', 'a', false],
    ['a.c', 'abc', false],
    ['**', 'x', true],
  ];
  for (const [pattern, name, fits] of rows) {
    assert.equal(compilePatterns([pattern])(name), fits, `${pattern} ${name}`);
  }
  assert.equal(compilePatterns([])('anything'), true);
  assert.equal(compilePatterns(['a', 'b*'])('bcd'), true);
});

test('a hostile name does not make a pattern dear', () => {
  const allows = compilePatterns([`${'a*'.repeat(100)}b`]);
  assert.equal(allows('a'.repeat(100_000)), false);
});
