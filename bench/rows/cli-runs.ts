import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { readCpuNs } from '../machine/cpu-time.ts';
import { median } from '../statistics.ts';
import { type Target, targetNames } from '../targets/target.ts';
import { type Check, type Medians, type Metrics, metricOf, type Row, VoidCell } from './row.ts';

/** Uncounted: the first ones compile what the others use. */
const warmRuns = 100;
const runs = 200;
const prompt = 'what a child is given and gives back';

/** What a program that only gives back its prompt costs the Node, besides what the program itself takes. */
export const cliRow: Row = {
  id: 'cli',
  title: `${runs} runs of /bin/cat, one after another`,
  rounds: (scale) => scale.rounds,
  without: targetNames.filter((name) => name !== 'iop'),
  paired: [],
  ceiling: undefined,
  async measure(target) {
    for (let run = 0; run < warmRuns; run++) await ask(target);
    return await measureRuns(target);
  },
  columns: [
    { head: 'Node: CPU ms/run', metric: 'nodeCpuMs', digits: 2 },
    { head: 'Edge: CPU ms/run', metric: 'edgeCpuMs', digits: 2 },
    { head: 'wall p50 ms', metric: 'wallP50Ms', digits: 1 },
  ],
  checks: checkRuns,
};

async function measureRuns(target: Target): Promise<Metrics> {
  const cpuMs = (name: string) => readCpuNs(pidsOf(target, name)) / 1e6;
  const before = { node: cpuMs('node'), edge: cpuMs('edge') };
  const walls: number[] = [];
  for (let run = 0; run < runs; run++) {
    const startMs = performance.now();
    await ask(target);
    walls.push(performance.now() - startMs);
  }
  return {
    nodeCpuMs: (cpuMs('node') - before.node) / runs,
    edgeCpuMs: (cpuMs('edge') - before.edge) / runs,
    wallP50Ms: median(walls),
  };
}

/** Of the process itself: its children are not counted. */
function pidsOf({ parts }: Target, name: string): number[] {
  return parts.filter((part) => part.name === name).map((part) => part.pid);
}

async function ask({ place }: Target): Promise<void> {
  const body = JSON.stringify({ model: 'bench-cat', messages: [{ role: 'user', content: prompt }] });
  const headers = { ...place.headers, 'content-type': 'application/json' };
  const options = { host: '127.0.0.1', port: place.port, path: place.path, method: 'POST', headers };
  const answer = await new Promise<string>((resolve, reject) => {
    request(options, (response) => text(response).then(resolve, reject))
      .on('error', reject)
      .end(body);
  });
  if (!answer.includes(prompt)) throw new VoidCell(`answered ${answer.slice(0, 200)}`);
}

function checkRuns(medians: Medians): Check[] {
  const value = metricOf(medians, 'iop', 'nodeCpuMs');
  return [{ text: 'CPU of the Node besides the child, ms/run', value, limit: 5, better: 'less' }];
}
