import { sleep } from '../load/sleep.ts';
import type { Target } from '../targets/target.ts';
import { assertWhole, type Check, type Medians, metricOf, type Row, type RowContext } from './row.ts';
import { type Resident, settledBytes, sum } from './settled-bytes.ts';

const paceMs = 1000;
/** Loaded code and first buffers are not what a stream costs. */
const warmStreams = 100;

/** Measured before the other rows: a heap that had to grow once does not shrink, and would hide what streams take. */
export const memoryRow: Row = {
  id: 'P5',
  title: 'memory per open stream (a chunk a second each), whole process tree, and after all have ended',
  rounds: (scale) => Math.min(1, scale.longRounds),
  without: ['direct', 'iop-tls'],
  paired: [],
  ceiling: undefined,
  async measure(target, context) {
    await holdStreams(target, context, warmStreams);
    const idle = await settledBytes(target, context.scale.settleMs);
    const metrics: Record<string, number> = { idleMb: sum(idle) / 1e6 };
    for (const streams of context.scale.heldStreams) {
      const { open, after } = await holdStreams(target, context, streams);
      metrics.afterRatio = sum(after) / sum(idle);
      metrics[`kb${streams}`] = (sum(open) - sum(idle)) / 1024 / streams;
      for (const [name, bytes] of open) {
        metrics[`${name}Kb${streams}`] = (bytes - (idle.get(name) ?? 0)) / 1024 / streams;
      }
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

async function holdStreams(
  target: Target,
  context: RowContext,
  streams: number,
): Promise<{ open: Resident; after: Resident }> {
  const { load, mockPort, scale } = context;
  assertWhole(
    await load.run({ kind: 'hold', place: target.place, streams, paceMs }),
    `${streams} open streams`,
  );
  await sleep(scale.settleMs);
  const open = await settledBytes(target, scale.settleMs);
  assertWhole(await load.run({ kind: 'release', mockPort }), `${streams} streams at their end`);
  await sleep(scale.settleMs);
  return { open, after: await settledBytes(target, scale.settleMs) };
}

function checkMemory(medians: Medians): Check[] {
  return [1000, 5000].flatMap((streams) => [
    goal(`KB per open stream at ${streams}, Edge + Node`, metricOf(medians, 'iop', `kb${streams}`)),
    goal(`KB per open stream at ${streams}, Edge alone`, metricOf(medians, 'iop', `edgeKb${streams}`)),
  ]);
}

function goal(text: string, value: number): Check {
  return { text, value, limit: 40, better: 'less' };
}
