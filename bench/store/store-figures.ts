import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSystemClock } from '@iop/shell';
import { openSqliteStore } from '../../apps/edge/src/outbound/store-sqlite/store.ts';
import { formatTable } from '../report/table.ts';
import { formatCheck } from '../report/verdict.ts';
import type { Check } from '../rows/row.ts';
import { median } from '../statistics.ts';
import type { PaceFigures, StoreOrder } from './store-order.ts';

/** P10: what the Edge's store writes durably, and what of it a kill takes. */
export interface StoreFigures {
  /** `at40000LagP99Ms` …: medians of the rounds. */
  figures: Readonly<Record<string, number>>;
  checks: readonly Check[];
}

const paces = [20_000, 40_000, 60_000, 80_000];
const goalEventsPerS = 40_000;
const goalLagMs = 25;
const metrics = ['eventsPerS', 'lagP50Ms', 'lagP99Ms', 'cpuUsPerEvent'] as const;

export async function measureStore(rounds: number, durationMs: number): Promise<StoreFigures> {
  // on the disk of the repository: the system's temporary directory may be memory
  const cache = new URL('../results/', import.meta.url).pathname;
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, 'store-'));
  try {
    const figures = { ...(await measurePaces(dir, rounds, durationMs)), lost: await killAndCount(dir) };
    return { figures, checks: toChecks(figures) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export function formatStore({ figures, checks }: StoreFigures): string {
  const lines = paces.map((pace) => [
    String(pace),
    ...metrics.map((metric) => (figures[nameOf(pace, metric)] ?? Number.NaN).toFixed(1)),
  ]);
  const table = formatTable(['offered/s', 'durable/s', 'lag p50 ms', 'lag p99 ms', 'CPU µs/event'], lines);
  return ['P10  durable events of 230 B, 200 runs, batches of 4', table, ...checks.map(formatCheck)].join(
    '\n',
  );
}

async function measurePaces(dir: string, rounds: number, durationMs: number) {
  const values = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    const child = await startProgram(['measure', join(dir, `paces-${round}.db`)]);
    // the first one is for the compiler
    for (const [index, pace] of [goalEventsPerS, ...paces].entries()) {
      const figures = await askPace(child, { eventsPerS: pace, durationMs });
      if (index === 0) continue;
      for (const metric of metrics) {
        const name = nameOf(pace, metric);
        values.set(name, [...(values.get(name) ?? []), figures[metric]]);
      }
    }
    await endProgram(child);
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, median(all)]));
}

/** Acknowledged events that are not there after a SIGKILL. */
async function killAndCount(dir: string): Promise<number> {
  const [file, acks] = [join(dir, 'killed.db'), join(dir, 'acks')];
  const child = await startProgram(['endless', file, acks]);
  await sleep(3000);
  await endProgram(child);
  const acked = new Map<string, number>();
  for (const line of readFileSync(acks, 'utf8').split('\n').slice(0, -1)) {
    const [runId = '', pos] = line.split(' ');
    acked.set(runId, Number(pos));
  }
  const store = await openSqliteStore({ file, clock: createSystemClock() });
  let lost = acked.size === 0 ? Number.NaN : 0;
  for (const [runId, pos] of acked) {
    let found = 0;
    for (;;) {
      const page = await store.log.read({ runId, afterPos: found, limitBytes: 1024 * 1024 });
      if (page.events.length === 0 || page.firstPos !== found + 1) break;
      found += page.events.length;
    }
    lost += Math.max(0, pos - found);
  }
  await store.close();
  return lost;
}

async function startProgram(args: readonly string[]): Promise<ChildProcess> {
  const child = fork(new URL('./store-program.ts', import.meta.url), args);
  await once(child, 'message');
  return child;
}

async function askPace(child: ChildProcess, order: StoreOrder): Promise<PaceFigures> {
  child.send(order);
  const [figures] = (await once(child, 'message')) as [PaceFigures];
  return figures;
}

async function endProgram(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function nameOf(pace: number, metric: string): string {
  return `at${pace}${metric.charAt(0).toUpperCase()}${metric.slice(1)}`;
}

function toChecks(figures: Readonly<Record<string, number>>): Check[] {
  const value = figures[nameOf(goalEventsPerS, 'lagP99Ms')] ?? Number.NaN;
  const within = paces.filter((pace) => (figures[nameOf(pace, 'lagP99Ms')] ?? Number.NaN) <= goalLagMs);
  const most = Math.max(0, ...within.map((pace) => figures[nameOf(pace, 'eventsPerS')] ?? 0));
  return [
    {
      text: `durable events/s at a lag p99 ≤ ${goalLagMs} ms`,
      value: most,
      limit: goalEventsPerS * 0.98,
      better: 'more',
    },
    { text: `lag p99 at ${goalEventsPerS} durable events/s, ms`, value, limit: goalLagMs, better: 'less' },
    {
      text: 'acknowledged events lost by kill -9',
      value: figures.lost ?? Number.NaN,
      limit: 0,
      better: 'less',
    },
  ];
}
