import { assertAnswered, type Check, type Medians, metricOf, type Row } from './row.ts';

export const latencyRow: Row = {
  id: 'P1',
  title: 'added latency, not streaming, one request at a time, 256 B body',
  rounds: (scale) => scale.rounds,
  without: [],
  paired: ['p50Us', 'p99Us'],
  ceiling: undefined,
  async measure(target, { load, scale }) {
    const { warmMs, windowMs } = scale;
    const { place } = target;
    const result = await load.run({
      kind: 'closed-loop',
      place,
      connections: 1,
      bodyBytes: 256,
      warmMs,
      windowMs,
    });
    assertAnswered(result, 'requests');
    return {
      p50Us: result.latencyUs.p50,
      p99Us: result.latencyUs.p99,
      cpuUs: result.cpuNs / 1000 / result.requests,
    };
  },
  columns: [
    { head: 'p50 µs', metric: 'p50Us', digits: 0 },
    { head: 'p99 µs', metric: 'p99Us', digits: 0 },
    { head: 'added p50 µs', metric: 'addedP50Us', digits: 0 },
    { head: 'added p99 µs', metric: 'addedP99Us', digits: 0 },
    { head: 'CPU µs/req', metric: 'cpuUs', digits: 0 },
  ],
  checks: checkLatency,
};

function checkLatency(medians: Medians): Check[] {
  const added = metricOf(medians, 'iop', 'addedP50Us');
  const ratio = (name: 'nginx' | 'portkey'): number => added / metricOf(medians, name, 'addedP50Us');
  return [
    { text: "added p50 against nginx's", value: ratio('nginx'), limit: 3, better: 'less' },
    { text: "added p50 against Portkey's", value: ratio('portkey'), limit: 0.4, better: 'less' },
  ];
}
