// The official client of npm against the Edge: what most callers will be.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';
import { chatAnswer, contentChunk } from './harness/upstream-act.ts';

const limit = { timeout: 60_000 };
const ask = { model: 'm', messages: [{ role: 'user' as const, content: 'hi' }] };

describe('the openai client', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let client: OpenAI;
  before(async () => {
    // what an upstream says is to reach the client, also right after it asked to wait
    scene = await openScene({ vllm: { breaker: false } });
    upstream = at(scene.upstreams, 0);
    client = new OpenAI({ baseURL: `${scene.edge.url}/v1`, apiKey: scene.edge.apiKey, maxRetries: 0 });
  });
  after(() => scene?.world.close());

  test('lists models', limit, async () => {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert.deepEqual(names.toSorted(), ['echo', 'm']);
    assert.equal((await client.models.retrieve('m')).id, 'm');
  });

  test('chats', limit, async () => {
    upstream.act({ kind: 'json', content: 'hello you' });
    const answer = await client.chat.completions.create(ask);
    assert.equal(answer.choices[0]?.message.content, 'hello you');
    assert.equal(answer.usage?.total_tokens, 10);
  });

  test('streams', limit, async () => {
    upstream.act({ kind: 'stream', chunks: ['hel', 'lo'], paceMs: 2 });
    let text = '';
    let usage: number | undefined;
    const stream = await client.chat.completions.create({
      ...ask,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage?.total_tokens ?? usage;
    }
    assert.equal(text, 'hello');
    assert.equal(usage, 10);
  });

  test('assembles parallel tool calls out of a stream', limit, async () => {
    const call = (index: number, part: object) => delta({ tool_calls: [{ index, ...part }] });
    upstream.act({
      kind: 'stream',
      chunks: [
        delta({ role: 'assistant', content: null }),
        call(0, { id: 'a', type: 'function', function: { name: 'add', arguments: '' } }),
        call(1, { id: 'b', type: 'function', function: { name: 'mul', arguments: '{"x":' } }),
        call(0, { function: { arguments: '{"x":1,' } }),
        call(1, { function: { arguments: '2}' } }),
        call(0, { function: { arguments: '"y":"ü"}' } }),
      ],
    });
    const runner = client.chat.completions.stream({
      ...ask,
      tools: ['add', 'mul'].map((name) => ({
        type: 'function' as const,
        function: { name, parameters: {} },
      })),
    });
    const message = await runner.finalMessage();
    const calls = message.tool_calls?.map((made) => made.type === 'function' && [made.id, made.function]);
    assert.deepEqual(
      calls?.map((made) => made && [made[0], (made[1] as { arguments: string }).arguments]),
      [
        ['a', '{"x":1,"y":"ü"}'],
        ['b', '{"x":2}'],
      ],
    );
  });

  test('gets a tool call of a whole answer as the upstream gave it', limit, async () => {
    const tool = { id: 'a', type: 'function', function: { name: 'add', arguments: '{"x":1}' } };
    const answer = chatAnswer('');
    Object.assign(answer, {
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls: [tool] },
          finish_reason: 'tool_calls',
        },
      ],
    });
    upstream.act({ kind: 'bytes', status: 200, body: JSON.stringify(answer) });
    const got = await client.chat.completions.create(ask);
    assert.deepEqual(got.choices[0]?.message.tool_calls, [tool]);
  });

  test('aborts a stream, and the upstream is closed', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(1000).fill('x'), paceMs: 10 });
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    let seen = 0;
    for await (const _chunk of stream) if (++seen === 3) break;
    const brokenAt = performance.now();
    assert.ok((await upstream.closed(at(upstream.requests, 0))) - brokenAt <= 250);
  });

  test('aborts a request that waits for its answer, and the upstream is closed', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'hang' });
    const controller = new AbortController();
    const asking = client.chat.completions.create(ask, { signal: controller.signal });
    const seen = await upstream.arrival(0);
    controller.abort();
    const abortedAt = performance.now();
    await assert.rejects(asking, OpenAI.APIUserAbortError);
    assert.ok((await upstream.closed(seen)) - abortedAt <= 250);
  });

  test('throws its own error classes', limit, async () => {
    await assert.rejects(client.chat.completions.create({ ...ask, model: 'none' }), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ ...ask, messages: [] }), OpenAI.BadRequestError);
    const stranger = new OpenAI({ baseURL: client.baseURL, apiKey: 'iop_wrong', maxRetries: 0 });
    await assert.rejects(stranger.chat.completions.create(ask), OpenAI.AuthenticationError);
    upstream.act({
      kind: 'bytes',
      status: 429,
      headers: { 'retry-after': '1' },
      body: '{"error":{"message":"slow"}}',
    });
    await assert.rejects(client.chat.completions.create(ask), OpenAI.RateLimitError);
    upstream.act({ kind: 'drop' });
    await assert.rejects(client.chat.completions.create(ask), OpenAI.InternalServerError);
  });

  test('throws when a stream breaks: a half answer never looks whole', limit, async () => {
    upstream.act({ kind: 'stream', chunks: ['half'], paceMs: 50, end: 'cut' });
    const stream = await client.chat.completions.create({ ...ask, stream: true });
    let text = '';
    await assert.rejects(async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    }, OpenAI.APIError);
    assert.equal(text, 'half');
  });
});

function delta(part: object): object {
  const chunk = contentChunk('') as { choices: { delta: object }[] };
  return { ...chunk, choices: [{ ...chunk.choices[0], delta: part }] };
}
