import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { BenchOptions } from '../options.ts';
import type { Check } from '../rows/row.ts';
import type { RowResult } from '../rows/run-row.ts';
import { isNearCeiling } from './row-report.ts';
import { judge } from './verdict.ts';

interface Figures {
  figures: Readonly<Record<string, number>>;
  checks: readonly Check[];
}

export interface RunFacts {
  options: BenchOptions;
  startedAt: string;
  durationS: number;
  /** Why the machine was not fit, when it was forced. */
  noise: readonly string[];
  rows: readonly RowResult[];
  start: Figures | undefined;
  codec: Figures | undefined;
  store: Figures | undefined;
}

interface Report {
  [row: string]: unknown;
  start?: object;
  run?: object;
}

/** `{"P1":{…},…,"start":{…},"run":{…}}`, made for programs: every cell is in it. */
export function writeJson(facts: RunFacts): void {
  const { options, start, codec, store } = facts;
  const report: Report = Object.fromEntries(
    facts.rows.map((row) => [row.row.id, toRow(row)] as const).sort(byId),
  );
  if (start !== undefined) report.start = toFigures(start);
  if (store !== undefined) report.P10 = toFigures(store);
  if (codec !== undefined) report.P11 = toFigures(codec);
  report.run = {
    ...machine(),
    startedAt: facts.startedAt,
    durationS: facts.durationS,
    noise: facts.noise,
  };
  mkdirSync(dirname(options.jsonFile), { recursive: true });
  writeFileSync(
    options.jsonFile,
    `${JSON.stringify({ ...report, options: toOptions(options) }, undefined, 2)}\n`,
  );
}

function toFigures({ figures, checks }: Figures): object {
  return { ...figures, checks: checks.map(toCheck) };
}

function byId([a]: readonly [string, object], [b]: readonly [string, object]): number {
  return a.localeCompare(b);
}

function toRow(result: RowResult): object {
  const { row, rounds, cells, medians, foreignPercent } = result;
  return {
    title: row.title,
    rounds,
    targets: Object.fromEntries(
      [...medians].map(([name, metrics]) => [name, { ...metrics, nearCeiling: isNearCeiling(result, name) }]),
    ),
    checks: row.checks(medians).map(toCheck),
    foreignPercent,
    cells: cells.map(({ target, round, outcome }) => ({ target, round, ...outcome })),
  };
}

function toCheck(check: Check): object {
  return { ...check, value: Number.isFinite(check.value) ? check.value : null, verdict: judge(check) };
}

function machine(): object {
  return {
    node: process.version,
    kernel: release(),
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
  };
}

function toOptions(options: BenchOptions): object {
  const { rows, targets, scale, force, seed } = options;
  return { rows, targets, scale, force, seed };
}
