// The Anthropic dialect on real processes, judged by Anthropic's own client: over a model server that speaks chat, and
// over the mock.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import Anthropic, { APIError, RateLimitError } from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { eventually } from './harness/eventually.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';
import { contentChunk, type UpstreamAct } from './harness/upstream-act.ts';

const limit = { timeout: 60_000 };
const promptness = 250;
const ask = { model: 'm', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };

describe('the Anthropic client', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let client: Anthropic;
  before(async () => {
    scene = await openScene({ vllm: { breaker: false } });
    upstream = at(scene.upstreams, 0);
    client = new Anthropic({ baseURL: scene.edge.url, apiKey: scene.edge.apiKey, maxRetries: 0 });
  });
  after(() => scene?.world.close());

  async function newestEnd(): Promise<unknown> {
    return await eventually('the newest run ends', 5_000, async () => at(await scene.edge.runs(), 0).end);
  }

  test('lists models', limit, async () => {
    const names: string[] = [];
    for await (const { id } of client.models.list()) names.push(id);
    assert.deepEqual(names.toSorted(), ['echo', 'm']);
  });

  test('gets the same message whole and streamed; the model server was asked for a chat', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: [delta({ reasoning: 'hm' }), 'hel', 'lo'], paceMs: 2 });
    const whole = await client.messages.create({ ...ask, system: 'Be terse.' });
    const streamed = await client.messages.stream({ ...ask, system: 'Be terse.' }).finalMessage();
    const kinds = whole.content.map((block) => block.type);
    assert.deepEqual(kinds, ['thinking', 'text']);
    const { signature: _one, ...thinking } = streamed.content[0] as Anthropic.ThinkingBlock;
    assert.equal(thinking.thinking, 'hm');
    assert.deepEqual(streamed.content[1], whole.content[1]);
    const { cache_creation: _first, ...usage } = streamed.usage;
    const { cache_creation: _second, ...known } = whole.usage;
    assert.deepEqual(usage, known);
    assert.deepEqual([whole.usage.input_tokens, whole.usage.output_tokens], [7, 3]);
    const { path, body } = at(upstream.requests, 0);
    assert.deepEqual([path, body.model, body.stream], ['chat/completions', 'm', true]);
    assert.deepEqual(body.messages, [{ role: 'system', content: 'Be terse.' }, ...ask.messages]);
  });

  test('assembles parallel tool calls that the model server streams side by side', limit, async () => {
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
    const tools = ['add', 'mul'].map((name) => ({ name, input_schema: { type: 'object' as const } }));
    const message = await client.messages.stream({ ...ask, tools }).finalMessage();
    const calls = message.content.map((block) => block.type === 'tool_use' && [block.id, block.input]);
    assert.deepEqual(calls, [
      ['a', { x: 1, y: 'ü' }],
      ['b', { x: 2 }],
    ]);
    assert.equal(message.stop_reason, 'tool_use');
  });

  test("runs an agent's loop: the mock calls a tool, gets its answer, and ends", limit, async () => {
    const asked: string[] = [];
    const weather = betaTool({
      name: 'get_weather',
      description: 'The weather of a city.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => {
        asked.push(city);
        return 'sunny';
      },
    });
    const call = { name: 'get_weather', arguments: { city: 'Seoul' }, pieces: 4 };
    const content = `<mock>${JSON.stringify({ tool_calls: [call], after_tools: 'It is sunny.' })}</mock>`;
    const runner = client.beta.messages.toolRunner({
      model: 'mock/echo',
      max_tokens: 100,
      messages: [{ role: 'user', content }],
      tools: [weather],
      stream: true,
    });
    const last = await runner.runUntilDone();
    assert.deepEqual(asked, ['Seoul']);
    assert.deepEqual([last.stop_reason, last.content.length], ['end_turn', 1]);
    assert.equal(last.content[0]?.type === 'text' && last.content[0].text, 'It is sunny.');
  });

  async function abortWhen(act: UpstreamAct, stream: boolean, phase: (seen: number) => Promise<unknown>) {
    upstream.forget();
    upstream.act(act);
    const abort = new AbortController();
    let seen = 0;
    const asking = read();
    async function read(): Promise<void> {
      const answer = await client.messages.create({ ...ask, stream }, { signal: abort.signal });
      if (Symbol.asyncIterator in answer) for await (const _event of answer) seen += 1;
    }
    const refused = asking.catch(() => {});
    const request = await upstream.arrival(0);
    await phase(seen);
    if (act.kind === 'stream' && stream) await eventually('events', 5_000, () => seen >= 5);
    const abortedAt = performance.now();
    abort.abort();
    const tookMs = (await upstream.closed(request)) - abortedAt;
    await refused;
    assert.ok(tookMs <= promptness, `the upstream was closed after ${tookMs} ms`);
    assert.deepEqual(await newestEnd(), { kind: 'cancelled', by: 'caller' });
    assert.equal(upstream.open(), 0);
  }

  test('closes the upstream by leaving before the first token', limit, () =>
    abortWhen({ kind: 'hang' }, true, () => sleep(50)),
  );

  test('closes the upstream by leaving in mid-stream', limit, () =>
    abortWhen({ kind: 'stream', chunks: Array(2000).fill('x'), paceMs: 5 }, true, () => sleep(0)),
  );

  test('closes the upstream by leaving while it waits for a whole message', limit, () =>
    abortWhen({ kind: 'stream', chunks: Array(2000).fill('x'), paceMs: 5 }, false, () => sleep(50)),
  );

  test(
    'throws when the upstream is cut in mid-stream, and never takes the part for the whole',
    limit,
    async () => {
      upstream.act({ kind: 'stream', chunks: ['a', 'b'], paceMs: 5, end: 'reset' });
      const types: string[] = [];
      await assert.rejects(
        async () => {
          for await (const { type } of await client.messages.create({ ...ask, stream: true }))
            types.push(type);
        },
        (error) => error instanceof APIError && error.type !== null,
      );
      assert.ok(types.includes('content_block_delta') && !types.includes('message_stop'));
      await assert.rejects(
        client.messages.create(ask),
        (error) => error instanceof APIError && error.errorCode === 'upstream.cut',
      );
    },
  );

  test('is told what the upstream said, in its own words and classes', limit, async () => {
    const body = JSON.stringify({ error: { message: 'slow down', type: 'rate', code: 'slow' } });
    upstream.act({ kind: 'bytes', status: 429, body });
    await assert.rejects(
      client.messages.create(ask),
      (error) =>
        error instanceof RateLimitError && error.type === 'rate_limit_error' && error.errorCode === 'slow',
    );
  });

  test('counts tokens by the engine that can, and by rule where none can', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'bytes', status: 200, body: '{"input_tokens":42}' });
    const count = (model: string) =>
      client.messages.countTokens({ model, messages: ask.messages }).withResponse();
    const counted = await count('m');
    assert.deepEqual(
      [counted.data.input_tokens, counted.response.headers.get('x-iop-estimated')],
      [42, null],
    );
    assert.equal(at(upstream.requests, 0).path, 'messages/count_tokens');
    const estimated = await count('mock/echo');
    assert.equal(estimated.response.headers.get('x-iop-estimated'), 'true');
    assert.ok(estimated.data.input_tokens > 0);
    upstream.act({ kind: 'bytes', status: 404, body: '{"detail":"Not Found"}' });
    assert.equal((await count('m')).response.headers.get('x-iop-estimated'), 'true');
  });

  test('repeats by its idempotency key without a second run', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: ['once'] });
    const options = { headers: { 'idempotency-key': 'k-1' } };
    const first = await client.messages.create(ask, options);
    const again = await client.messages.create(ask, options);
    assert.deepEqual([again.id, again.content], [first.id, first.content]);
    assert.equal(upstream.requests.length, 1);
  });

  test('may leave a run that goes on without it', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(40).fill('x'), paceMs: 10 });
    const headers = { 'x-iop-on-disconnect': 'continue' };
    const stream = await client.messages.create({ ...ask, stream: true }, { headers });
    for await (const { type } of stream) if (type === 'content_block_delta') break;
    const request = await upstream.arrival(0);
    await upstream.closed(request, 10_000);
    assert.equal(request.finished, true);
    assert.equal(((await newestEnd()) as { kind: string }).kind, 'completed');
  });
});

function delta(value: object): object {
  const chunk = contentChunk('') as { choices: object[] };
  return { ...chunk, choices: [{ ...chunk.choices[0], delta: value }] };
}
