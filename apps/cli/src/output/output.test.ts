import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endWords } from './end-words.ts';
import { numberOption } from './options.ts';
import { formatTable } from './table.ts';
import { formatAge, formatLength } from './time.ts';

test('columns are aligned by what they hold, without trailing spaces', () => {
  const table = formatTable(
    ['node', 'state', ''],
    [
      ['gpu-1', 'ready', ''],
      ['a', 'away', 'lost'],
    ],
  );
  assert.equal(table, 'NODE   STATE\ngpu-1  ready\na      away   lost\n');
});

test('wide letters take two columns', () => {
  assert.equal(
    formatTable(
      ['a', 'b'],
      [
        ['한글', 'x'],
        ['abcd', 'y'],
      ],
    ),
    'A     B\n한글  x\nabcd  y\n',
  );
});

test('lengths of time are said in their largest unit', () => {
  assert.deepEqual([0, 240, 1_500, 59_000, 90_000, 7_200_000, 200_000_000].map(formatLength), [
    '0 ms',
    '240 ms',
    '1.5 s',
    '59 s',
    '1.5 min',
    '2 h',
    '2.3 d',
  ]);
  assert.equal(formatAge(undefined, 0), '-');
  assert.equal(formatAge(1_000, 4_000), '3 s ago');
});

test('a number out of bounds is refused with the flag and the bounds', () => {
  assert.equal(numberOption('7', '--limit', [1, 10]), 7);
  for (const bad of ['0', '11', 'x', '1.5', '', undefined, true]) {
    assert.throws(() => numberOption(bad, '--limit', [1, 10]), {
      kind: 'invalid',
      message: /--limit takes a whole number from 1 to 10/,
    });
  }
});

test('an end that is as it should be needs no words', () => {
  assert.equal(endWords({ kind: 'completed', finish: 'stop' }), '');
  assert.equal(endWords({ kind: 'completed', finish: 'length' }), 'length');
  assert.equal(endWords({ kind: 'cancelled', by: 'caller' }), 'by caller');
});
