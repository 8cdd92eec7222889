import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../rows/row.ts';
import { type Cell, type RowResult, toMedians } from '../rows/run-row.ts';
import { formatRow, isNearCeiling } from './row-report.ts';
import { formatTable } from './table.ts';
import { formatCheck, judge } from './verdict.ts';

test('a goal is reached at its limit, and unknown without a value', () => {
  assert.equal(judge({ text: 'x', value: 3, limit: 3, better: 'less' }), 'reached');
  assert.equal(judge({ text: 'x', value: 3.1, limit: 3, better: 'less' }), 'not reached');
  assert.equal(judge({ text: 'x', value: 5, limit: 5, better: 'more' }), 'reached');
  assert.equal(judge({ text: 'x', value: Number.NaN, limit: 5, better: 'more' }), 'not measured');
});

test('a check is one line for people', () => {
  const line = formatCheck({ text: 'ratio', value: 2.345, limit: 3, better: 'less' });
  assert.equal(line, 'reached       ratio: 2.35 (goal ≤ 3)');
});

test('numbers of a table stand to the right', () => {
  assert.equal(formatTable(['', 'µs'], [['nginx', '127']]), '|       |  µs |\n| nginx | 127 |');
});

test('void cells take no part in medians and are told', () => {
  const report = formatRow(result);
  assert.match(report, /\| nginx \* \| +95 \| +20 \|/);
  assert.match(report, /void: nginx, round 2: 1 failed/);
  assert.match(report, /within 10 %/);
});

test('what comes close to direct is bounded by the measuring side', () => {
  assert.equal(isNearCeiling(result, 'nginx'), true);
  assert.equal(isNearCeiling(result, 'portkey'), false);
  assert.equal(isNearCeiling(result, 'direct'), false);
});

const row: Row = {
  id: 'P2',
  title: 'example',
  rounds: () => 2,
  without: [],
  measure: () => Promise.reject(new Error('not here')),
  paired: ['lagUs'],
  columns: [
    { head: 'rps', metric: 'rps', digits: 0 },
    { head: 'added', metric: 'addedLagUs', digits: 0 },
  ],
  checks: () => [],
  ceiling: 'rps',
};

const cells: Cell[] = [
  measured({ target: 'direct', round: 1 }, { rps: 100, lagUs: 10 }),
  measured({ target: 'direct', round: 2 }, { rps: 100, lagUs: 500 }),
  measured({ target: 'nginx', round: 1 }, { rps: 95, lagUs: 30 }),
  { target: 'nginx', round: 2, outcome: { kind: 'void', reason: '1 failed' } },
  measured({ target: 'portkey', round: 1 }, { rps: 10, lagUs: 900 }),
];

const result: RowResult = {
  row,
  rounds: 2,
  cells,
  medians: toMedians(cells, row.paired),
  foreignPercent: [0, 0],
};

function measured(at: Pick<Cell, 'target' | 'round'>, metrics: Record<string, number>): Cell {
  return { ...at, outcome: { kind: 'measured', metrics } };
}
