import type { TestContext } from 'node:test';
import type { RunEnd, RunFailure } from '@iop/domain';
import { createTestClock } from '@iop/link/testing';
import type { Adapter, ExecutionSpec } from '@iop/runtime';
import { createRecordingSink, type RecordingSink } from '@iop/runtime/testing';
import {
  type Play,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createHostGuard } from '../http-upstream/host-guard.ts';
import { createVllmAdapter, type VllmOptions } from './vllm-adapter.ts';

export interface Lab {
  upstream: ScriptedUpstream;
  adapter: Adapter;
  run(values?: Parameters<typeof chatSpec>[1]): Promise<{ sink: RecordingSink; end: RunEnd }>;
  start(values?: Parameters<typeof chatSpec>[1]): Running;
}

export interface Running {
  spec: ExecutionSpec;
  sink: RecordingSink;
  stop: AbortController;
  end: Promise<RunEnd>;
}

/** One upstream that plays `play` for every request, and an adapter in front of it. */
export async function createLab(
  test: TestContext,
  play: Play,
  options: Partial<VllmOptions> = {},
): Promise<Lab> {
  const upstream = await startScriptedUpstream({ model: play, '*': play });
  const adapter = createVllm(options.baseUrl ?? upstream.baseUrl, options);
  test.after(async () => {
    await adapter.close();
    await upstream.close();
  });
  const start = (values: Parameters<typeof chatSpec>[1] = {}): Running => {
    const spec = chatSpec('model', values);
    const sink = createRecordingSink();
    const stop = new AbortController();
    const end = adapter.execute(spec, sink, stop.signal).then((result) => {
      sink.close();
      return result;
    });
    return { spec, sink, stop, end };
  };
  const run = async (values: Parameters<typeof chatSpec>[1] = {}) => {
    const { sink, end } = start(values);
    return { sink, end: await end };
  };
  return { upstream, adapter, run, start };
}

export function createVllm(baseUrl: string, options: Partial<VllmOptions> = {}): Adapter {
  return createVllmAdapter(
    {
      name: 'vllm',
      apiKey: '',
      connectTimeoutMs: 2_000,
      firstByteTimeoutMs: 20_000,
      idleTimeoutMs: 20_000,
      targets: [],
      ...options,
      baseUrl,
    },
    { clock: createTestClock(), hosts: createHostGuard(['127.0.0.1', 'localhost']) },
  );
}

export function failureOf(end: RunEnd): RunFailure {
  if (end.kind !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(end)}`);
  return end.failure;
}
