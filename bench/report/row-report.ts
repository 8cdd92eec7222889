import type { Cell, RowResult } from '../rows/run-row.ts';
import type { TargetName } from '../targets/target.ts';
import { formatCell, formatTable } from './table.ts';
import { formatCheck } from './verdict.ts';

/** Closer than this to what the mock and the load generator can do, a figure says more about them. */
export const nearCeiling = 0.9;

/** A row for people: its table, what does not count, what was reached. */
export function formatRow(result: RowResult): string {
  const { row, rounds, medians } = result;
  const lines = [...medians].map(([target, metrics]) => [
    `${target}${isNearCeiling(result, target) ? ' *' : ''}`,
    ...row.columns.map(({ metric, digits, divisor = 1 }) => {
      const value = metrics[metric];
      return formatCell(value === undefined ? undefined : value / divisor, digits);
    }),
  ]);
  return [
    `${row.id}  ${row.title}  (median of ${rounds} round${rounds === 1 ? '' : 's'})`,
    formatTable(['', ...row.columns.map((column) => column.head)], lines),
    ...notes(result),
    ...row.checks(medians).map(formatCheck),
  ].join('\n');
}

/** At the limit of the measuring side; direct is that limit. */
export function isNearCeiling({ row, medians }: RowResult, target: TargetName): boolean {
  if (row.ceiling === undefined || target === 'direct') return false;
  const most = medians.get('direct')?.[row.ceiling];
  const mine = medians.get(target)?.[row.ceiling];
  return most !== undefined && mine !== undefined && mine >= nearCeiling * most;
}

function notes(result: RowResult): string[] {
  const marked = [...result.medians.keys()].some((target) => isNearCeiling(result, target));
  return [
    ...(marked ? ['* within 10 % of what the mock and the load generator can do: bounded by them'] : []),
    ...result.cells.flatMap(voidNote),
  ];
}

function voidNote({ target, round, outcome }: Cell): string[] {
  return outcome.kind === 'void' ? [`void: ${target}, round ${round}: ${outcome.reason}`] : [];
}
