import { createTestClock } from '@iop/link/testing';
import type { ExecutionSpec } from '@iop/runtime';
import { type AdapterHarness, type AdapterScenario, adapterContract } from '@iop/runtime/testing';
import { chatSpec } from '../../../testing/specs.ts';
import { createMockAdapter } from './mock-adapter.ts';

const scripts: Readonly<Record<AdapterScenario, object>> = {
  short: { text: 'hello world' },
  paced: { size: '100MiB', chunks: 1_000_000, pace_ms: 5 },
  silent: { stall: {} },
  flood: { size: '5MiB' },
  cut: { text: 'a b c', cut: { at: 2 } },
  refused: { error: { status: 500 } },
  garbled: { text: 'a b c', malformed: { at: 2 } },
};

async function setup(): Promise<AdapterHarness> {
  const adapter = createMockAdapter(
    { name: 'mock', targets: new Map([['echo', undefined]]) },
    { clock: createTestClock() },
  );
  // The mock's only source is itself: what executes and has not resolved.
  let started = 0;
  let open = 0;
  const counted = {
    ...adapter,
    execute: async (...args: Parameters<typeof adapter.execute>) => {
      if (!args[2].aborted) started++;
      open++;
      try {
        return await adapter.execute(...args);
      } finally {
        open--;
      }
    },
  };
  return {
    adapter: counted,
    spec: (scenario): ExecutionSpec =>
      chatSpec('echo', { prompt: `<mock>${JSON.stringify(scripts[scenario])}</mock>` }),
    openWork: () => open,
    startedWork: () => started,
    close: async () => {},
  };
}

adapterContract('mock', setup);
