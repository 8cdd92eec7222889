import type { LoadClient } from '../load/client.ts';
import type { LoopResult } from '../load/messages.ts';
import type { RowId, Scale } from '../options.ts';
import type { Target, TargetName } from '../targets/target.ts';

/** What one cell measured: plain numbers, units in the names. */
export type Metrics = Readonly<Record<string, number>>;

export interface RowContext {
  load: LoadClient;
  mockPort: number;
  scale: Scale;
}

export interface Column {
  head: string;
  metric: string;
  digits: number;
  /** Shown value = value / divisor. */
  divisor?: number;
}

export interface Check {
  text: string;
  value: number;
  limit: number;
  /** Whether less or more is better; the limit itself is reached. */
  better: 'less' | 'more';
}

/** Medians over the rounds; a target without one valid round is missing. */
export type Medians = ReadonlyMap<TargetName, Metrics>;

export interface Row {
  id: RowId;
  title: string;
  rounds(scale: Scale): number;
  /** Targets that this row leaves out. */
  without: readonly TargetName[];
  /** One cell. Throws a `VoidCell` when an answer was wrong or missing. */
  measure(target: Target, context: RowContext): Promise<Metrics>;
  /** For these `added…` is given too: the median of the differences to direct within each round. */
  paired: readonly string[];
  columns: readonly Column[];
  checks(medians: Medians): Check[];
  /** The metric that tells how close a target is to what the mock and the load can do. */
  ceiling: string | undefined;
}

/** A cell that does not count, with the reason. */
export class VoidCell extends Error {}

export function assertWhole(result: { failed: number; problem?: string }, what: string): void {
  if (result.failed > 0)
    throw new VoidCell(`${what}: ${result.failed} failed, first: ${result.problem ?? '?'}`);
}

export function assertAnswered(result: LoopResult, what: string): void {
  assertWhole(result, what);
  if (result.requests === 0) throw new VoidCell(`${what}: none was answered within the window`);
}

export function metricOf(medians: Medians, target: TargetName, metric: string): number {
  return medians.get(target)?.[metric] ?? Number.NaN;
}

export function addedName(metric: string): string {
  return `added${metric.charAt(0).toUpperCase()}${metric.slice(1)}`;
}
