import type { StreamResult } from '../load/messages.ts';
import type { Target, TargetName } from '../targets/target.ts';
import {
  type Check,
  type Column,
  type Medians,
  type Metrics,
  metricOf,
  type Row,
  type RowContext,
  VoidCell,
} from './row.ts';

const paceMs = 20;
const stepStreams = 160;
const firstLevel = 4;
const maxLevel = 12;
/** Of what was offered, what has to arrive in time. */
const deliveredShare = 0.95;
const maxGapUs = 10 * paceMs * 1000;

export function createCeilingRow(): Row {
  /** Level at which a target stood in its last round: the next round begins one below. */
  const lastLevels = new Map<TargetName, number>();
  return {
    id: 'P4',
    title: `most streams × ${paceMs} ms with no frame lost, no gap > 10 × pace, ≥ 95 % of the offered rate`,
    rounds: (scale) => scale.longRounds,
    without: ['iop-tls'],
    paired: [],
    ceiling: 'chunksPerS',
    async measure(target, context) {
      const last = lastLevels.get(target.name) ?? firstLevel + 1;
      const best = await climb(target, context, Math.max(1, last - 1));
      lastLevels.set(target.name, best.level);
      return best.metrics;
    },
    columns,
    checks: checkCeiling,
  };
}

const columns: readonly Column[] = [
  { head: 'streams', metric: 'streams', digits: 0 },
  { head: 'chunks/s', metric: 'chunksPerS', digits: 0 },
  { head: 'CPU µs/chunk', metric: 'cpuUs', digits: 1 },
  { head: 'core %', metric: 'corePercent', digits: 0 },
  { head: 'chunks per CPU second', metric: 'perCpuSecond', digits: 0 },
  { head: 'gap p99 ms', metric: 'gapP99Us', digits: 1, divisor: 1000 },
  { head: 'gap max ms', metric: 'gapMaxUs', digits: 0, divisor: 1000 },
];

interface Stand {
  level: number;
  metrics: Metrics;
}

/** Up from a level that is likely to hold, or down until one does. */
async function climb(target: Target, context: RowContext, start: number): Promise<Stand> {
  let best: Stand | undefined;
  for (let level = start; level <= maxLevel; level++) {
    const metrics = await tryLevel(target, context, level);
    if (metrics === undefined) break;
    best = { level, metrics };
  }
  for (let level = start - 1; best === undefined && level >= 1; level--) {
    const metrics = await tryLevel(target, context, level);
    if (metrics !== undefined) best = { level, metrics };
  }
  if (best === undefined) throw new VoidCell(`not even ${stepStreams} streams are carried`);
  return best;
}

async function tryLevel(target: Target, context: RowContext, level: number): Promise<Metrics | undefined> {
  const streams = level * stepStreams;
  const windowMs = context.scale.streamWindowMs;
  const { place } = target;
  const result = await context.load.run({ kind: 'streams', place, streams, paceMs, rampMs: 500, windowMs });
  const chunksPerS = result.frames / (result.windowMs / 1000);
  return isCarried(result, chunksPerS / (streams * (1000 / paceMs)))
    ? toMetrics(result, streams, chunksPerS)
    : undefined;
}

function isCarried(result: StreamResult, share: number): boolean {
  return result.failed === 0 && share >= deliveredShare && result.gapUs.max <= maxGapUs;
}

function toMetrics(result: StreamResult, streams: number, chunksPerS: number): Metrics {
  return {
    streams,
    chunksPerS,
    cpuUs: result.cpuNs / 1000 / result.frames,
    ...(result.cpuNs > 0 && { perCpuSecond: result.frames / (result.cpuNs / 1e9) }),
    corePercent: result.cpuNs / 1e4 / result.windowMs,
    gapP99Us: result.gapUs.p99,
    gapMaxUs: result.gapUs.max,
  };
}

function checkCeiling(medians: Medians): Check[] {
  const value = metricOf(medians, 'iop', 'chunksPerS');
  return [{ text: 'chunks/s per core, none lost', value, limit: 30_000, better: 'more' }];
}
