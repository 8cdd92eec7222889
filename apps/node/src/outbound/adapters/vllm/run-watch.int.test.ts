import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Adapter, FactName } from '@iop/runtime';
import {
  answerStatus,
  answerStream,
  chunk,
  completion,
  cutStream,
  done,
  type Play,
  usageChunk,
} from '../../../testing/scripted-upstream.ts';
import { createLab } from './vllm-fixture.ts';

const never = new AbortController().signal;
const withTools = '{"model":"x","tools":[{"type":"function"}],"messages":[]}';

function event(delta: unknown, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

const call = (name: string | undefined, text: string, index = 0) =>
  event({ tool_calls: [{ index, function: { ...(name !== undefined && { name }), arguments: text } }] });

async function factsOf(adapter: Adapter): Promise<Partial<Record<FactName, boolean>>> {
  const { targets } = await adapter.capabilities(never);
  const facts = targets[0]?.facts ?? [];
  assert.ok(facts.every((fact) => fact.source === 'measured'));
  return Object.fromEntries(facts.map(({ name, holds }) => [name, holds]));
}

async function learn(test: TestContext, play: Play, values: Record<string, unknown> = {}) {
  const { run, adapter, upstream } = await createLab(test, play);
  const { body = withTools, ...rest } = values;
  await run({ body: Buffer.from(String(body)), ...rest });
  assert.equal(upstream.exchanges.length, 1, 'nothing is run to find out');
  return factsOf(adapter);
}

describe('vllm: what a target can do is learnt from its runs', () => {
  it('nothing is known before the first', async (test) => {
    const { adapter } = await createLab(test, () => {});
    assert.deepEqual(await factsOf(adapter), {});
  });

  it('usage in a stream, which came or did not', async (test) => {
    const stop = chunk('', 'stop');
    const came = await learn(test, answerStream([chunk('a'), stop, usageChunk, done]));
    assert.deepEqual(came, { chat: true, 'usage-in-stream': true });
    const missed = await learn(test, answerStream([chunk('a'), stop, done]));
    assert.deepEqual(missed, { chat: true, 'usage-in-stream': false });
  });

  it('calls of tools, in pieces or whole', async (test) => {
    const end = [event({}, 'tool_calls'), usageChunk, done];
    const seen = { chat: true, tools: true, 'usage-in-stream': true };
    const pieces = [call('f', ''), call(undefined, '{"a":'), call(undefined, '1}')];
    assert.deepEqual(await learn(test, answerStream([...pieces, ...end])), { ...seen, 'stream-tools': true });
    const whole = [call('f', '{"a":1}'), call('g', '{"name":"x"}', 1)];
    assert.deepEqual(await learn(test, answerStream([...whole, ...end])), { ...seen, 'stream-tools': false });
    assert.deepEqual(await learn(test, answerStream([call('f', '{}'), ...end])), seen, 'too short to tell');
    const choices = [{ index: 0, message: { tool_calls: [{}] }, finish_reason: 'tool_calls' }];
    const answer = answerStatus(200, completion('', { choices }));
    assert.deepEqual(await learn(test, answer, { stream: false }), { chat: true, tools: true });
  });

  it('reasoning, under both names, streamed or not', async (test) => {
    for (const key of ['reasoning', 'reasoning_content']) {
      const stream = answerStream([event({ [key]: '' }), event({ [key]: 'hm' }), event({}, 'stop'), done]);
      assert.equal((await learn(test, stream)).reasoning, true);
      const choices = [{ index: 0, message: { content: 'a', [key]: 'hm' }, finish_reason: 'stop' }];
      const whole = answerStatus(200, completion('', { choices }));
      assert.equal((await learn(test, whole, { stream: false })).reasoning, true);
    }
    const talk = answerStream([
      event({ content: '"reasoning":"x"', reasoning: null }),
      event({}, 'stop'),
      done,
    ]);
    assert.equal((await learn(test, talk)).reasoning, undefined);
  });

  it('embeddings and completions, which it has or has not', async (test) => {
    const ask = (dialect: string) => ({ dialect, stream: false });
    const list = answerStatus(200, { object: 'list', data: [] });
    assert.deepEqual(await learn(test, list, ask('openai.embeddings')), { embeddings: true });
    assert.deepEqual(await learn(test, list, ask('openai.completions')), { completions: true });
    const refusals: [number, unknown][] = [
      [501, { error: { message: 'Start it with `--embeddings`', code: 501 } }],
      [404, { detail: 'Not Found' }],
      [400, { error: { message: 'The model does not support Embeddings API' } }],
    ];
    for (const [status, body] of refusals) {
      const facts = await learn(test, answerStatus(status, body), ask('openai.embeddings'));
      assert.deepEqual(facts, { embeddings: false });
    }
  });

  it('tools, which the server was not started for', async (test) => {
    const message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
    assert.deepEqual(await learn(test, answerStatus(400, { error: { message } })), { tools: false });
  });

  it('but nothing from what says nothing about the target', async (test) => {
    const unknown = answerStatus(404, { error: { message: 'The model `x` does not exist.' } });
    for (const play of [unknown, answerStatus(500, {}), answerStatus(400, {}), cutStream([chunk('a')])]) {
      assert.deepEqual(await learn(test, play), {});
    }
    assert.deepEqual(
      await learn(test, answerStatus(200, {}), {
        dialect: 'openai.raw',
        raw: { path: 'rerank', contentType: '' },
      }),
      {},
    );
  });
});
