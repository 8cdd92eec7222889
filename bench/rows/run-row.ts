import { ForeignCpu } from '../machine/quiet.ts';
import { shuffle } from '../shuffle.ts';
import { median, pairedDifference } from '../statistics.ts';
import { type Target, type TargetName, targetNames } from '../targets/target.ts';
import { addedName, type Medians, type Metrics, type Row, type RowContext } from './row.ts';

export interface Cell {
  target: TargetName;
  round: number;
  outcome: { kind: 'measured'; metrics: Metrics } | { kind: 'void'; reason: string };
}

export interface RowResult {
  row: Row;
  rounds: number;
  cells: readonly Cell[];
  medians: Medians;
  /** CPU of processes that are not ours, in percent of a core, by round. */
  foreignPercent: readonly number[];
}

export interface RowRun extends RowContext {
  targets: readonly Target[];
  random: () => number;
  onCell(cell: Cell): void;
}

/** Every target once a round, in an order that changes, so that no one always follows the same neighbour. */
export async function runRow(row: Row, run: RowRun): Promise<RowResult> {
  const targets = run.targets.filter((target) => !row.without.includes(target.name));
  const rounds = row.rounds(run.scale);
  const foreign = new ForeignCpu([process.pid]);
  const foreignPercent: number[] = [];
  const cells: Cell[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const target of shuffle(targets, run.random)) {
      const cell = { target: target.name, round, outcome: await measureCell(row, target, run) };
      cells.push(cell);
      run.onCell(cell);
    }
    foreignPercent.push(foreign.sample());
  }
  return { row, rounds, cells, medians: toMedians(cells, row.paired), foreignPercent };
}

async function measureCell(row: Row, target: Target, run: RowRun): Promise<Cell['outcome']> {
  try {
    return { kind: 'measured', metrics: await row.measure(target, run) };
  } catch (error) {
    return { kind: 'void', reason: error instanceof Error ? error.message : String(error) };
  }
}

export function toMedians(cells: readonly Cell[], paired: readonly string[]): Medians {
  const byTarget = Map.groupBy(cells, (cell) => cell.target);
  const direct = byTarget.get('direct') ?? [];
  const medians = new Map<TargetName, Metrics>();
  for (const target of targetNames) {
    const mine = byTarget.get(target) ?? [];
    const names = new Set(mine.flatMap((cell) => Object.keys(metricsOf(cell))));
    if (names.size === 0) continue;
    const metrics: Record<string, number> = {};
    for (const name of names) metrics[name] = median([...valuesOf(mine, name).values()]);
    for (const name of paired) {
      metrics[addedName(name)] = pairedDifference(valuesOf(mine, name), valuesOf(direct, name));
    }
    medians.set(target, metrics);
  }
  return medians;
}

/** Value by round, where the cell counts. */
function valuesOf(cells: readonly Cell[], name: string): ReadonlyMap<number, number> {
  const values = new Map<number, number>();
  for (const cell of cells) {
    const value = metricsOf(cell)[name];
    if (value !== undefined) values.set(cell.round, value);
  }
  return values;
}

function metricsOf(cell: Cell): Metrics {
  return cell.outcome.kind === 'measured' ? cell.outcome.metrics : {};
}
