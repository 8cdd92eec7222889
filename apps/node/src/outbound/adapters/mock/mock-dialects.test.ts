import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunEnd } from '@iop/domain';
import { createManualClock, settle } from '@iop/link/testing';
import type { ExecutionSpec } from '@iop/runtime';
import { createRecordingSink } from '@iop/runtime/testing';
import { chatSpec } from '../../../testing/specs.ts';
import { createMockAdapter } from './mock-adapter.ts';
import { vectorOf } from './vectors.ts';

async function play(values: Partial<ExecutionSpec>) {
  const clock = createManualClock();
  const adapter = createMockAdapter({ name: 'mock', targets: new Map([['echo', undefined]]) }, { clock });
  const sink = createRecordingSink();
  let end: RunEnd | undefined;
  void adapter.execute(chatSpec('echo', values), sink, new AbortController().signal).then((result) => {
    end = result;
  });
  for (let i = 0; i < 10_000 && end === undefined; i++) {
    await settle();
    if (end === undefined && clock.nextAtMs !== undefined) clock.advance(clock.nextAtMs - clock.now());
  }
  assert.ok(end !== undefined, 'the mock did not end');
  return { sink, end: end as RunEnd };
}

function complete(request: object, values: Partial<ExecutionSpec> = {}) {
  const body = Buffer.from(JSON.stringify(request));
  return play({ dialect: 'openai.completions', stream: false, body, ...values });
}

function embed(request: object) {
  const body = Buffer.from(JSON.stringify(request));
  return play({ dialect: 'openai.embeddings', stream: false, body });
}

async function vectors(request: object): Promise<number[][]> {
  const { sink } = await embed(request);
  return JSON.parse(sink.text()).data.map((each: { embedding: number[] }) => each.embedding);
}

describe('mock: completions', () => {
  it('echoes its prompt as a text_completion', async () => {
    const { sink, end } = await complete({ prompt: 'once upon', n: 2 });
    const answer = JSON.parse(sink.text());
    assert.match(answer.id, /^cmpl-run_/);
    assert.equal(answer.object, 'text_completion');
    assert.deepEqual(answer.choices, [
      { text: 'once upon', logprobs: null, finish_reason: 'stop', index: 0 },
      { text: 'once upon', logprobs: null, finish_reason: 'stop', index: 1 },
    ]);
    assert.deepEqual(answer.usage, { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    assert.equal(end.kind, 'completed');
  });

  it('streams, with usage when it is asked for', async () => {
    const { sink } = await complete({ prompt: 'once upon' }, { stream: true, includeUsage: true });
    const chunks = sink
      .text()
      .trimEnd()
      .split('\n\n')
      .map((event) => JSON.parse(event.slice(6)));
    assert.deepEqual(
      chunks.flatMap(({ choices }) => choices.map((choice: { text: string }) => choice.text)),
      ['once', ' upon', ''],
    );
    assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop');
    assert.equal(chunks.at(-1).usage.total_tokens, 4);
  });

  it('takes many prompts, tokens, echo and max_tokens', async () => {
    const many = JSON.parse((await complete({ prompt: ['a', 'b c'] })).sink.text());
    assert.deepEqual(
      many.choices.map((choice: { index: number }) => choice.index),
      [0, 1],
    );
    const tokens = JSON.parse((await complete({ prompt: [[1, 2, 3]], max_tokens: 2 })).sink.text());
    assert.deepEqual([tokens.choices[0].text, tokens.choices[0].finish_reason], ['1 2', 'length']);
    const echo = '<mock>{"text":" a time"}</mock>once upon';
    const echoed = JSON.parse((await complete({ prompt: echo, echo: true })).sink.text());
    assert.equal(echoed.choices[0].text, 'once upon a time');
  });

  it('plays scripts, and says what is wrong with a request', async () => {
    const { end } = await complete({ prompt: '<mock>{"error":{"status":429}}</mock>' });
    assert.equal(end.kind === 'failed' && end.failure.upstream?.status, 429);
    const wrong = await complete({ prompt: {} });
    assert.match(wrong.end.kind === 'failed' ? wrong.end.failure.message : '', /prompt: expected/);
  });
});

describe('mock: embeddings', () => {
  it('gives one vector of length 1 for each input, the same at every repetition', async () => {
    const [first, second, again] = await vectors({ input: ['a red house', 'tax law', 'a red house'] });
    assert.equal(first?.length, 64);
    assert.deepEqual(first, again);
    assert.notDeepEqual(first, second);
    assert.ok(Math.abs(dot(first, first) - 1) < 1e-5);
  });

  it('lays texts that share words near each other', () => {
    const vector = (text: string) => [...vectorOf(text, 64)];
    const house = vector('a red house');
    assert.ok(dot(house, vector('the red house')) > dot(house, vector('tax law')) + 0.3);
  });

  it('gives so many dimensions as are asked for, and base64 as OpenAI does', async () => {
    const [floats] = await vectors({ input: 'x', dimensions: 5 });
    assert.equal(floats?.length, 5);
    const { sink } = await embed({ input: 'x', dimensions: 5, encoding_format: 'base64' });
    const bytes = Buffer.from(JSON.parse(sink.text()).data[0].embedding, 'base64');
    assert.deepEqual(
      floats?.map((_, at) => bytes.readFloatLE(at * 4)),
      floats,
    );
  });

  it('takes token arrays, and tells usage', async () => {
    const { sink, end } = await embed({ input: [[1, 2], [3]] });
    const answer = JSON.parse(sink.text());
    assert.equal(answer.data.length, 2);
    assert.deepEqual(answer.usage, { prompt_tokens: 3, total_tokens: 3 });
    assert.deepEqual(end, {
      kind: 'completed',
      finish: 'stop',
      usage: { promptTokens: 3, completionTokens: 0, estimated: false },
    });
  });

  it('plays the faults of a script, which changes no vector', async () => {
    const { end } = await embed({ input: 'hello<mock>{"cut":{"at":0}}</mock>' });
    assert.equal(end.kind === 'failed' && end.failure.code, 'upstream.cut');
    const [plain, scripted] = await vectors({ input: ['hello', 'hello<mock>{"delay_ms":100}</mock>'] });
    assert.deepEqual(plain, scripted);
  });

  it('gives no byte of an answer that it cannot make', async () => {
    const { sink, end } = await embed({ input: {} });
    assert.equal(end.kind, 'failed');
    assert.equal(sink.text(), '');
  });
});

describe('mock: raw requests', () => {
  const raw = { path: 'rerank', contentType: 'application/json' };

  it('says what arrived', async () => {
    const body = Buffer.from('{"query":"hello there"}');
    const { sink } = await play({ dialect: 'openai.raw', stream: false, raw, body });
    assert.deepEqual(sink.events[0], { kind: 'head', contentType: 'application/json' });
    assert.deepEqual(JSON.parse(sink.text()), {
      object: 'mock.raw',
      model: 'echo',
      path: 'rerank',
      content_type: 'application/json',
      body_bytes: body.length,
      text: 'hello there',
    });
  });

  it('streams events of its own, and plays a script out of a form', async () => {
    const body = Buffer.from('--b\r\n\r\n<mock>{"text":"one two","cut":{"at":9}}</mock>\r\n--b--');
    const form = { path: 'audio/transcriptions', contentType: 'multipart/form-data; boundary=b' };
    const { sink, end } = await play({ dialect: 'openai.raw', stream: true, raw: form, body });
    assert.deepEqual(sink.events[0], { kind: 'head', contentType: 'text/event-stream' });
    assert.equal(sink.text(), 'data: {"text":"one"}\n\ndata: {"text":" two"}\n\n');
    assert.equal(end.kind === 'failed' && end.failure.code, 'upstream.cut');
  });
});

function dot(a: readonly number[] = [], b: readonly number[] = []): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}
