import type { Target } from '../targets/target.ts';
import {
  assertAnswered,
  type Check,
  type Medians,
  type Metrics,
  metricOf,
  type Row,
  type RowContext,
} from './row.ts';

const connections = 32;

export const throughputRow: Row = {
  id: 'P2',
  title: `requests per second on one core, ${connections} connections, 256 B and 10 KB bodies`,
  rounds: (scale) => scale.rounds,
  without: [],
  paired: [],
  ceiling: 'rps256',
  async measure(target, context) {
    return { ...(await measureBody(target, context, 256)), ...(await measureBody(target, context, 10_240)) };
  },
  columns: [
    { head: 'req/s', metric: 'rps256', digits: 0 },
    { head: 'CPU µs/req', metric: 'cpuUs256', digits: 1 },
    { head: 'req per CPU second', metric: 'perCpuSecond256', digits: 0 },
    { head: 'p99 ms', metric: 'p99Us256', digits: 2, divisor: 1000 },
    { head: '10 KB: req/s', metric: 'rps10240', digits: 0 },
    { head: 'CPU µs/req', metric: 'cpuUs10240', digits: 1 },
    { head: 'p99 ms', metric: 'p99Us10240', digits: 2, divisor: 1000 },
  ],
  checks: checkThroughput,
};

async function measureBody(target: Target, context: RowContext, bodyBytes: number): Promise<Metrics> {
  const { warmMs, windowMs } = context.scale;
  const { place } = target;
  const result = await context.load.run({
    kind: 'closed-loop',
    place,
    connections,
    bodyBytes,
    warmMs,
    windowMs,
  });
  assertAnswered(result, `requests of ${bodyBytes} B`);
  return {
    [`rps${bodyBytes}`]: result.requests / (result.windowMs / 1000),
    [`cpuUs${bodyBytes}`]: result.cpuNs / 1000 / result.requests,
    ...(result.cpuNs > 0 && { [`perCpuSecond${bodyBytes}`]: result.requests / (result.cpuNs / 1e9) }),
    [`p99Us${bodyBytes}`]: result.latencyUs.p99,
  };
}

function checkThroughput(medians: Medians): Check[] {
  const rps = metricOf(medians, 'iop', 'rps256');
  return [
    {
      text: 'CPU µs per request, Edge + Node',
      value: metricOf(medians, 'iop', 'cpuUs256'),
      limit: 150,
      better: 'less',
    },
    {
      text: "req/s per core against Portkey's",
      value: rps / metricOf(medians, 'portkey', 'rps256'),
      limit: 5,
      better: 'more',
    },
  ];
}
