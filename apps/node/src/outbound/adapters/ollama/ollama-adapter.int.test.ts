import { setTimeout as sleep } from 'node:timers/promises';
import { type AdapterHarness, type AdapterScenario, adapterContract } from '@iop/runtime/testing';
import {
  answerLines,
  cutLines,
  doneLine,
  line,
  openLines,
  startFakeOllama,
} from '../../../testing/fake-ollama.ts';
import { answerStatus, type Play } from '../../../testing/scripted-upstream.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { createOllama } from './ollama-fixture.ts';

const paced: Play = async (exchange) => {
  openLines(exchange);
  for (let i = 0; !exchange.gone; i++) {
    exchange.response.write(line(`word ${i}`));
    await sleep(5);
  }
};

const flood: Play = async (exchange) => {
  openLines(exchange);
  const piece = line('x'.repeat(10_000));
  for (let size = 0; size < 5 * 1024 * 1024 && !exchange.gone; size += piece.length) {
    if (exchange.response.write(piece)) continue;
    await Promise.race([new Promise((resolve) => exchange.response.once('drain', resolve)), exchange.over]);
  }
  exchange.response.end(doneLine());
};

const plays: Readonly<Record<AdapterScenario, Play>> = {
  short: answerLines(line('hello'), line(' world'), doneLine()),
  paced,
  silent: () => {},
  flood,
  cut: cutLines(line('hello'), line(' wor')),
  refused: answerStatus(500, { error: 'llama runner process has terminated: exit status 2' }),
  garbled: answerLines(line('hello'), '{"message":{"content":\n', doneLine()),
};

async function setup(): Promise<AdapterHarness> {
  const ollama = await startFakeOllama(plays);
  return {
    adapter: createOllama(ollama.baseUrl),
    spec: (scenario) => chatSpec(scenario),
    openWork: () => ollama.openRuns(),
    startedWork: () => ollama.runs.length,
    close: () => ollama.close(),
  };
}

adapterContract('ollama', setup);
