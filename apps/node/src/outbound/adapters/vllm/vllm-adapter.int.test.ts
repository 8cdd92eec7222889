import { setTimeout as sleep } from 'node:timers/promises';
import { createTestClock } from '@iop/link/testing';
import { type AdapterHarness, type AdapterScenario, adapterContract } from '@iop/runtime/testing';
import {
  answerStatus,
  answerStream,
  chunk,
  cutStream,
  done,
  openStream,
  type Play,
  startScriptedUpstream,
} from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createHostGuard } from '../http-upstream/host-guard.ts';
import { createVllmAdapter } from './vllm-adapter.ts';

const paced: Play = async (exchange) => {
  openStream(exchange);
  for (let i = 0; !exchange.gone; i++) {
    exchange.response.write(chunk(`word ${i}`));
    await sleep(5);
  }
};

const flood: Play = async (exchange) => {
  openStream(exchange);
  const event = chunk('x'.repeat(10_000));
  for (let size = 0; size < 5 * 1024 * 1024 && !exchange.gone; size += event.length) {
    if (exchange.response.write(event)) continue;
    await Promise.race([new Promise((resolve) => exchange.response.once('drain', resolve)), exchange.over]);
  }
  exchange.response.end(chunk('', 'stop') + done);
};

const plays: Readonly<Record<AdapterScenario, Play>> = {
  short: answerStream([chunk('hello'), chunk(' world'), chunk('', 'stop'), done]),
  paced,
  silent: () => {},
  flood,
  cut: cutStream([chunk('hello'), chunk(' wor')]),
  refused: answerStatus(500, {
    error: { message: 'engine is dead', type: 'InternalServerError', code: 500 },
  }),
  garbled: answerStream([chunk('hello'), 'data: {"choices":[{"delta":\n\n', chunk('', 'stop'), done]),
};

async function setup(): Promise<AdapterHarness> {
  const upstream = await startScriptedUpstream(plays);
  const adapter = createVllmAdapter(
    {
      name: 'vllm',
      baseUrl: upstream.baseUrl,
      apiKey: '',
      connectTimeoutMs: 2_000,
      firstByteTimeoutMs: 20_000,
      idleTimeoutMs: 20_000,
      targets: [],
    },
    { clock: createTestClock(), hosts: createHostGuard(['127.0.0.1']) },
  );
  return {
    adapter,
    spec: (scenario) => chatSpec(scenario),
    openWork: () => upstream.openExchanges(),
    startedWork: () => upstream.exchanges.length,
    close: () => upstream.close(),
  };
}

adapterContract('vllm', setup);
