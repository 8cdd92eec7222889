import type { UpstreamLoad } from '@iop/runtime';

/** First of each that a server has counts: vLLM, its older names, llama.cpp, SGLang. */
const running = ['vllm:num_requests_running', 'llamacpp:requests_processing', 'sglang:num_running_reqs'];
const waiting = [
  'vllm:num_requests_waiting',
  'vllm:num_requests_waiting_by_reason',
  'llamacpp:requests_deferred',
  'sglang:num_queue_reqs',
];
const cacheUse = [
  'vllm:kv_cache_usage_perc',
  'vllm:gpu_cache_usage_perc',
  'llamacpp:kv_cache_usage_ratio',
  'sglang:token_usage',
];

const known = new Set([...running, ...waiting, ...cacheUse]);
/** Name, labels (their texts may hold anything), value. */
const sample = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{.*\})?[ \t]+(\S+)/;

/**
 * How busy a server is, from its metrics in Prometheus' text format. Several engines of one server add up;
 * the share of the cache is their mean. Undefined: it says nothing of what we know.
 */
export function parseLoad(text: string): UpstreamLoad | undefined {
  const samples = readSamples(text);
  const runningNow = sumOf(samples, running);
  if (runningNow === undefined) return undefined;
  const load: UpstreamLoad = {
    running: Math.round(runningNow),
    waiting: Math.round(sumOf(samples, waiting) ?? 0),
  };
  const shares = valuesOf(samples, cacheUse);
  // Two digits: nobody decides by more, and every change is told.
  if (shares.length > 0) load.cacheUse = Math.min(1, Math.round((100 * sum(shares)) / shares.length) / 100);
  return load;
}

type Samples = ReadonlyMap<string, readonly number[]>;

function readSamples(text: string): Samples {
  const samples = new Map<string, number[]>();
  for (const line of text.split('\n')) {
    const [, name = '', value] = (line.startsWith('#') ? null : sample.exec(line)) ?? [];
    const number = Number(value);
    if (!known.has(name) || !Number.isFinite(number) || number < 0) continue;
    const values = samples.get(name) ?? [];
    values.push(number);
    samples.set(name, values);
  }
  return samples;
}

function sumOf(samples: Samples, names: readonly string[]): number | undefined {
  const values = valuesOf(samples, names);
  return values.length === 0 ? undefined : sum(values);
}

function valuesOf(samples: Samples, names: readonly string[]): readonly number[] {
  for (const name of names) {
    const values = samples.get(name);
    if (values !== undefined) return values;
  }
  return [];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
