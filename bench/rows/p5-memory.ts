import { sleep } from '../load/sleep.ts';
import { readMemory } from '../machine/memory.ts';
import { listTree } from '../machine/process-tree.ts';
import type { Target } from '../targets/target.ts';
import {
  assertWhole,
  type Check,
  type Medians,
  type Metrics,
  metricOf,
  type Row,
  type RowContext,
} from './row.ts';

const paceMs = 1000;
const sampleMs = 250;

export const memoryRow: Row = {
  id: 'P5',
  title: 'memory per open stream (a chunk a second each), whole process tree, and after all have ended',
  rounds: (scale) => Math.min(1, scale.longRounds),
  without: ['direct', 'iop-tls'],
  paired: [],
  ceiling: undefined,
  async measure(target, context) {
    const metrics: Record<string, number> = {};
    for (const streams of context.scale.heldStreams) {
      Object.assign(metrics, await holdStreams(target, context, streams));
    }
    return metrics;
  },
  columns: [
    { head: 'idle MB', metric: 'idleMb', digits: 0 },
    { head: '1 000: KB each', metric: 'kb1000', digits: 1 },
    { head: 'Edge', metric: 'edgeKb1000', digits: 1 },
    { head: 'Node', metric: 'nodeKb1000', digits: 1 },
    { head: '5 000: KB each', metric: 'kb5000', digits: 1 },
    { head: 'Edge', metric: 'edgeKb5000', digits: 1 },
    { head: 'Node', metric: 'nodeKb5000', digits: 1 },
    { head: 'after ÷ idle', metric: 'afterRatio', digits: 2 },
  ],
  checks: checkMemory,
};

async function holdStreams(target: Target, context: RowContext, streams: number): Promise<Metrics> {
  const { load, mockPort, scale } = context;
  await sleep(scale.settleMs);
  const idle = await settledBytes(target, scale.settleMs);
  assertWhole(
    await load.run({ kind: 'hold', place: target.place, streams, paceMs }),
    `${streams} open streams`,
  );
  await sleep(scale.settleMs);
  const open = await settledBytes(target, scale.settleMs);
  assertWhole(await load.run({ kind: 'release', mockPort }), `${streams} streams at their end`);
  await sleep(scale.settleMs);
  const after = await settledBytes(target, scale.settleMs);
  const metrics: Record<string, number> = {
    idleMb: sum(idle) / 1e6,
    [`kb${streams}`]: (sum(open) - sum(idle)) / 1024 / streams,
    afterRatio: sum(after) / sum(idle),
  };
  for (const [name, bytes] of open)
    metrics[`${name}Kb${streams}`] = (bytes - (idle.get(name) ?? 0)) / 1024 / streams;
  return metrics;
}

/** Least of several looks: between them garbage comes and goes. By part of the target. */
async function settledBytes(target: Target, durationMs: number): Promise<Map<string, number>> {
  const least = new Map<string, number>();
  for (let spentMs = 0; spentMs <= durationMs; spentMs += sampleMs) {
    for (const { name, pid } of target.parts) {
      const { residentBytes } = readMemory(listTree([pid]));
      least.set(name, Math.min(residentBytes, least.get(name) ?? residentBytes));
    }
    await sleep(sampleMs);
  }
  return least;
}

function sum(bytes: ReadonlyMap<string, number>): number {
  return [...bytes.values()].reduce((total, value) => total + value, 0);
}

function checkMemory(medians: Medians): Check[] {
  return [1000, 5000]
    .map(
      (streams): Check => ({
        text: `KB per open stream at ${streams}, Edge + Node`,
        value: metricOf(medians, 'iop', `kb${streams}`),
        limit: 40,
        better: 'less',
      }),
    )
    .filter((check) => medians.get('iop') === undefined || !Number.isNaN(check.value));
}
