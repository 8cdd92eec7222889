import type { TestContext } from 'node:test';
import type { RunEnd, RunFailure } from '@iop/domain';
import { createTestClock } from '@iop/link/testing';
import type { Adapter, ExecutionSpec, RuntimeEvent } from '@iop/runtime';
import { createRecordingSink, type RecordingSink } from '@iop/runtime/testing';
import { type FakeOllama, startFakeOllama } from '../../../testing/fake-ollama.ts';
import type { Play } from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createHostGuard } from '../http-upstream/host-guard.ts';
import { createOllamaAdapter, type OllamaOptions } from './ollama-adapter.ts';

type SpecValues = Partial<ExecutionSpec> & { request?: Record<string, unknown> };

export interface Lab {
  ollama: FakeOllama;
  adapter: Adapter;
  /**
   * @param values `request`: fields of the request besides `messages`
   * @param windowBytes that its reader has room for
   */
  start(values?: SpecValues, windowBytes?: number): Running;
  run(values?: SpecValues): Promise<{ events: readonly RuntimeEvent[]; end: RunEnd }>;
}

export interface Running {
  sink: RecordingSink;
  stop: AbortController;
  end: Promise<RunEnd>;
}

/** A fake Ollama that plays `play` for the model `m`, and an adapter in front of it. */
export async function createLab(
  test: TestContext,
  play: Play,
  options: Partial<OllamaOptions> = {},
): Promise<Lab> {
  const ollama = await startFakeOllama({ 'm:latest': play, m: play });
  const adapter = createOllama(ollama.baseUrl, options);
  test.after(async () => {
    await adapter.close();
    await ollama.close();
  });
  const start = (values: SpecValues = {}, windowBytes?: number): Running => {
    const sink = createRecordingSink(windowBytes);
    const stop = new AbortController();
    const end = adapter.execute(toSpec(values), sink, stop.signal).then((result) => {
      sink.close();
      return result;
    });
    return { sink, stop, end };
  };
  const run = async (values: SpecValues = {}) => {
    const { sink, end } = start(values);
    return { end: await end, events: sink.events };
  };
  return { ollama, adapter, start, run };
}

export function toSpec({ request, ...values }: SpecValues): ExecutionSpec {
  const messages = [{ role: 'user', content: 'hello' }];
  const body = Buffer.from(JSON.stringify({ model: 'public-name', messages, ...request }));
  return chatSpec('m', { body, ...values });
}

export function createOllama(baseUrl: string, options: Partial<OllamaOptions> = {}): Adapter {
  return createOllamaAdapter(
    {
      name: 'ollama',
      connectTimeoutMs: 2_000,
      loadTimeoutMs: 20_000,
      idleTimeoutMs: 20_000,
      numCtx: 0,
      keepAlive: '',
      think: undefined,
      apiKey: '',
      targets: [],
      ...options,
      baseUrl,
    },
    { clock: createTestClock(), hosts: createHostGuard(['127.0.0.1']) },
  );
}

export function failureOf(end: RunEnd): RunFailure {
  if (end.kind !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(end)}`);
  return end.failure;
}

export function textOf(events: readonly RuntimeEvent[]): string {
  return events.flatMap((event) => (event.kind === 'text' ? [event.text] : [])).join('');
}
