import type { StreamResult } from '../load/messages.ts';
import { assertWhole, type Check, type Medians, metricOf, type Row } from './row.ts';

const streams = 200;
const paceMs = 20;
/** What Nagle's algorithm against a delayed acknowledgement costs, less the room that a timer needs. */
const quantumMs = 35;

export const streamRow: Row = {
  id: 'P3',
  title: `stream relay, ${streams} streams × ${paceMs} ms; time to first token of one stream alone`,
  rounds: (scale) => scale.rounds,
  without: [],
  paired: ['firstP50Us', 'firstP99Us', 'gapP99Us', 'delayP50Us', 'delayP99Us'],
  ceiling: undefined,
  async measure({ place }, { load, scale }) {
    const alone = await load.run({
      kind: 'first-token',
      place,
      count: scale.firstTokens,
      frames: 8,
      paceMs: 5,
      delayMs: 5,
    });
    assertWhole(alone, 'single streams');
    const windowMs = scale.streamWindowMs;
    const many = await load.run({ kind: 'streams', place, streams, paceMs, rampMs: 300, windowMs });
    assertWhole(many, `${streams} streams`);
    return { ...toMetrics(many), ...toAlone(alone) };
  },
  columns: [
    { head: 'CPU µs/chunk', metric: 'cpuUs', digits: 1 },
    { head: 'gap p50 ms', metric: 'gapP50Us', digits: 1, divisor: 1000 },
    { head: 'gap p99 ms', metric: 'gapP99Us', digits: 1, divisor: 1000 },
    { head: 'added gap p99 ms', metric: 'addedGapP99Us', digits: 1, divisor: 1000 },
    { head: 'added delay p50 ms', metric: 'addedDelayP50Us', digits: 2, divisor: 1000 },
    { head: 'added TTFT p50 ms', metric: 'addedFirstP50Us', digits: 2, divisor: 1000 },
    { head: 'added TTFT p99 ms', metric: 'addedFirstP99Us', digits: 2, divisor: 1000 },
    { head: 'TTFT p50 ms, 200', metric: 'manyFirstP50Us', digits: 1, divisor: 1000 },
    { head: 'alone: delay p99 ms', metric: 'aloneDelayP99Us', digits: 2, divisor: 1000 },
  ],
  checks: checkStreams,
};

function toMetrics(many: StreamResult): Record<string, number> {
  return {
    cpuUs: many.cpuNs / 1000 / many.frames,
    gapP50Us: many.gapUs.p50,
    gapP99Us: many.gapUs.p99,
    delayP50Us: many.delayUs.p50,
    delayP99Us: many.delayUs.p99,
    manyFirstP50Us: many.firstUs.p50,
    manyFirstP99Us: many.firstUs.p99,
  };
}

function toAlone(alone: StreamResult): Record<string, number> {
  return { firstP50Us: alone.firstUs.p50, firstP99Us: alone.firstUs.p99, aloneDelayP99Us: alone.delayUs.p99 };
}

function checkStreams(medians: Medians): Check[] {
  const cpu = metricOf(medians, 'iop', 'cpuUs');
  const nginx = metricOf(medians, 'nginx', 'cpuUs');
  const first = metricOf(medians, 'iop', 'addedFirstP50Us') / 1000;
  const delay = metricOf(medians, 'iop', 'aloneDelayP99Us') / 1000;
  return [
    { text: "CPU per chunk against nginx's", value: cpu / nginx, limit: 3.5, better: 'less' },
    { text: 'added TTFT p50, ms', value: first, limit: 0.6, better: 'less' },
    {
      text: 'no 40 ms quantum: delay p99 of a stream alone, ms',
      value: delay,
      limit: quantumMs,
      better: 'less',
    },
  ];
}
