import { sleep } from '../load/sleep.ts';
import type { Target } from '../targets/target.ts';
import { assertWhole, type Check, type Medians, metricOf, type Row, type RowContext } from './row.ts';
import { type Resident, settledBytes, sum } from './settled-bytes.ts';

const streams = 200;
const paceMs = 20;
/** So many, because what one of them takes is less than what a heap moves by itself. */
const stalled = 40;
/** Until every window and every buffer of the kernel on the way is full. */
const fillMs = 4_000;

export const stalledRow: Row = {
  id: 'P6',
  title: `${stalled} callers that read nothing beside ${streams} streams × ${paceMs} ms`,
  rounds: (scale) => scale.longRounds,
  without: ['direct'],
  paired: [],
  ceiling: undefined,
  async measure(target, context) {
    await readAll(target, context); // what reading takes is in the heap before it is looked at
    const alone = await readAll(target, context);
    const before = await settledBytes(target, context.scale.settleMs);
    try {
      const { place } = target;
      assertWhole(await context.load.run({ kind: 'stall', place, streams: stalled }), 'stalled callers');
      await sleep(fillMs);
      const beside = await readAll(target, context);
      const after = await settledBytes(target, context.scale.settleMs);
      return {
        stalledKb: (sum(after) - sum(before)) / 1024 / stalled,
        ...byPart(before, after),
        aloneGapP99Us: alone.gapUs.p99,
        besideGapP99Us: beside.gapUs.p99,
        gapRatio: beside.gapUs.p99 / alone.gapUs.p99,
      };
    } finally {
      await context.load.run({ kind: 'unstall' });
    }
  },
  columns: [
    { head: 'KB a stalled caller', metric: 'stalledKb', digits: 0 },
    { head: 'Edge', metric: 'edgeKb', digits: 0 },
    { head: 'Node', metric: 'nodeKb', digits: 0 },
    { head: 'gap p99 ms without', metric: 'aloneGapP99Us', digits: 1, divisor: 1000 },
    { head: 'gap p99 ms beside', metric: 'besideGapP99Us', digits: 1, divisor: 1000 },
    { head: 'ratio', metric: 'gapRatio', digits: 2 },
  ],
  checks: checkStalled,
};

async function readAll({ place }: Target, { load, scale }: RowContext) {
  const windowMs = scale.streamWindowMs;
  const result = await load.run({ kind: 'streams', place, streams, paceMs, rampMs: 300, windowMs });
  assertWhole(result, `${streams} streams`);
  return result;
}

function byPart(before: Resident, after: Resident): Record<string, number> {
  const costs: Record<string, number> = {};
  for (const [name, bytes] of after) costs[`${name}Kb`] = (bytes - (before.get(name) ?? 0)) / 1024 / stalled;
  return costs;
}

function checkStalled(medians: Medians): Check[] {
  const kb = metricOf(medians, 'iop', 'stalledKb');
  const ratio = metricOf(medians, 'iop', 'gapRatio');
  return [
    { text: 'KB of a caller that reads nothing, Edge + Node', value: kb, limit: 1024, better: 'less' },
    { text: 'gap p99 of the others, beside ÷ without', value: ratio, limit: 1.1, better: 'less' },
  ];
}
