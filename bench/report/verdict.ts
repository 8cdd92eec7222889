import type { Check } from '../rows/row.ts';

export type Verdict = 'reached' | 'not reached' | 'not measured';

/** A goal is held against what was measured; it is told, it fails nothing. */
export function judge(check: Check): Verdict {
  if (!Number.isFinite(check.value)) return 'not measured';
  const reached = check.better === 'less' ? check.value <= check.limit : check.value >= check.limit;
  return reached ? 'reached' : 'not reached';
}

export function formatCheck(check: Check): string {
  const sign = check.better === 'less' ? '≤' : '≥';
  const value = Number.isFinite(check.value) ? formatNumber(check.value) : '–';
  return `${judge(check).padEnd(12)}  ${check.text}: ${value} (goal ${sign} ${formatNumber(check.limit)})`;
}

function formatNumber(value: number): string {
  return Number.isInteger(value) || Math.abs(value) >= 1000 ? value.toFixed(0) : value.toFixed(2);
}
