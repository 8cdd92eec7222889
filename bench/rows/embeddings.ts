import { type IncomingMessage, request } from 'node:http';
import { readCpuNs } from '../machine/cpu-time.ts';
import { listTree } from '../machine/process-tree.ts';
import { embeddingShape } from '../mock/embeddings.ts';
import type { Target } from '../targets/target.ts';
import { addedName, type Check, type Medians, type Metrics, metricOf, type Row, VoidCell } from './row.ts';

const { inputs, dimensions } = embeddingShape;
const formats = ['base64', 'float'] as const;
/** Of each format, one after another; the fastest counts, because whatever else runs only makes it slower. */
const tries = 3;

export const embeddingsRow: Row = {
  id: 'embeddings',
  title: `one answer of ${inputs} × ${dimensions} floats`,
  rounds: (scale) => scale.longRounds,
  without: ['portkey'],
  paired: ['base64Ms', 'floatMs'],
  ceiling: undefined,
  async measure(target) {
    const metrics: Record<string, number> = {};
    for (const format of formats) Object.assign(metrics, await measureFormat(target, format));
    return metrics;
  },
  columns: formats.flatMap((format) => [
    { head: `${format}: MB`, metric: `${format}Mb`, digits: 1 },
    { head: 'ms', metric: `${format}Ms`, digits: 1 },
    { head: 'added ms', metric: addedName(`${format}Ms`), digits: 1 },
    { head: 'CPU ms', metric: `${format}CpuMs`, digits: 1 },
  ]),
  checks: checkEmbeddings,
};

async function measureFormat(target: Target, format: string): Promise<Metrics> {
  let bestMs = Number.POSITIVE_INFINITY;
  let sizeBytes = 0;
  const cpuStartNs = readCpuNs(listTree(target.place.pids));
  for (let attempt = 0; attempt < tries; attempt++) {
    const startMs = performance.now();
    sizeBytes = await ask(target, format);
    bestMs = Math.min(bestMs, performance.now() - startMs);
  }
  const cpuMs = (readCpuNs(listTree(target.place.pids)) - cpuStartNs) / 1e6 / tries;
  return { [`${format}Mb`]: sizeBytes / 1e6, [`${format}Ms`]: bestMs, [`${format}CpuMs`]: cpuMs };
}

/** Bytes of a whole answer. */
function ask({ place }: Target, format: string): Promise<number> {
  const body = JSON.stringify({ model: 'bench', input: ['x'], encoding_format: format });
  const headers = {
    ...place.headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const path = place.path.replace('chat/completions', 'embeddings');
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: place.port, path, method: 'POST', headers, agent: false };
    request(options, (answer) => {
      count(answer).then(resolve, reject);
    })
      .on('error', reject)
      .end(body);
  });
}

async function count(answer: IncomingMessage): Promise<number> {
  let sizeBytes = 0;
  let tail = '';
  for await (const piece of answer as AsyncIterable<Buffer>) {
    sizeBytes += piece.length;
    tail = (tail + piece.toString('latin1', Math.max(0, piece.length - 100))).slice(-100);
  }
  if (answer.statusCode !== 200) throw new VoidCell(`answered ${answer.statusCode}: ${tail}`);
  if (!/"total_tokens":2048\}\}\s*$/.test(tail)) throw new VoidCell('the answer is not whole');
  return sizeBytes;
}

function checkEmbeddings(medians: Medians): Check[] {
  return formats.map((format) => ({
    text: `${format}: added to direct, ms`,
    value: metricOf(medians, 'iop', addedName(`${format}Ms`)),
    limit: 25,
    better: 'less',
  }));
}
