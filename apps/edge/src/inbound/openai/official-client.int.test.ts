import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { type HttpLab, openHttpLab } from '../../testing/http-lab.ts';
import { goodKey, type ScriptedRun } from '../../testing/scripted-edge.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];

function clientOf(lab: HttpLab, options: { apiKey?: string; maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ baseURL: `${lab.url}/v1`, apiKey: goodKey, maxRetries: 0, ...options });
}

function chunk(run: ScriptedRun, choices: unknown[], extra: object = {}): void {
  run.chunk({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'Qwen',
    choices,
    ...extra,
  });
}

function delta(run: ScriptedRun, value: object, finish: string | null = null, index = 0): void {
  chunk(run, [{ index, delta: value, logprobs: null, finish_reason: finish }]);
}

/** What a model server streams for two tool calls at once. */
function playToolCalls(run: ScriptedRun): void {
  delta(run, { role: 'assistant', content: null });
  const call = (index: number, id: string, name: string) =>
    delta(run, { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
  const piece = (index: number, text: string) =>
    delta(run, { tool_calls: [{ index, function: { arguments: text } }] });
  call(0, 'call_a', 'weather');
  piece(0, '{"city":');
  call(1, 'call_b', 'time');
  piece(1, '{"zone":"CET"}');
  piece(0, '"Oslo"}');
  delta(run, {}, 'tool_calls');
  run.complete({ finish: 'tool-calls' });
}

test('chat: a whole answer, with the request id that the client shows', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'Hi' });
    run.complete({ usage: { promptTokens: 1, completionTokens: 1, estimated: false } });
  };
  const completion = await clientOf(lab).chat.completions.create({ model: 'qwen', messages });
  assert.equal(completion.choices[0]?.message.content, 'Hi');
  assert.equal(completion.usage?.total_tokens, 2);
  assert.match(completion._request_id ?? '', /^req_/);
});

test('stream: deltas, usage chunk and end', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    assert.equal(run.intent.includeUsage, true);
    delta(run, { role: 'assistant', content: '' });
    for (const content of ['Hel', 'lo']) delta(run, { content });
    delta(run, {}, 'stop');
    chunk(run, [], { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } });
    run.complete();
  };
  const stream = await clientOf(lab).chat.completions.create({
    model: 'qwen',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let totalTokens = 0;
  for await (const part of stream) {
    text += part.choices[0]?.delta.content ?? '';
    totalTokens += part.usage?.total_tokens ?? 0;
  }
  assert.deepEqual([text, totalTokens], ['Hello', 3]);
});

test('stream: parallel tool calls come together in the accumulator of the client', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playToolCalls;
  const stream = clientOf(lab).chat.completions.stream({ model: 'qwen', messages });
  const { choices } = await stream.finalChatCompletion();
  assert.equal(choices[0]?.finish_reason, 'tool_calls');
  const calls = choices[0]?.message.tool_calls ?? [];
  assert.deepEqual(
    calls.map((call) => call.type === 'function' && [call.id, call.function.name, call.function.arguments]),
    [
      ['call_a', 'weather', '{"city":"Oslo"}'],
      ['call_b', 'time', '{"zone":"CET"}'],
    ],
  );
});

test('stream: chunks made here satisfy the accumulator too, with several tool calls and reasoning', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    run.emit({ kind: 'reasoning', text: 'hm' }, { kind: 'text', text: 'Looking.' });
    run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '{"city":' });
    run.emit({ kind: 'tool-call', index: 1, id: 'call_b', name: 'time', argumentsJson: '{}' });
    run.emit({ kind: 'tool-call', index: 0, id: 'call_a', name: 'weather', argumentsJson: '"Oslo"}' });
    run.complete({ finish: 'tool-calls', usage: { promptTokens: 1, completionTokens: 2, estimated: false } });
  };
  const stream = clientOf(lab).chat.completions.stream({
    model: 'qwen',
    messages,
    stream_options: { include_usage: true },
  });
  const completion = await stream.finalChatCompletion();
  assert.equal(completion.choices[0]?.message.content, 'Looking.');
  assert.equal(completion.choices[0]?.message.tool_calls?.length, 2);
  assert.equal(completion.usage?.total_tokens, 3);
});

test('stream: several choices keep apart', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    for (const index of [0, 1]) delta(run, { role: 'assistant', content: `c${index}` }, null, index);
    for (const index of [1, 0]) delta(run, {}, 'stop', index);
    run.complete();
  };
  const stream = clientOf(lab).chat.completions.stream({ model: 'qwen', messages, n: 2 });
  const { choices } = await stream.finalChatCompletion();
  assert.deepEqual(
    choices.map(({ message }) => message.content),
    ['c0', 'c1'],
  );
});

test('tools: a whole answer with calls, and the result sent back', async () => {
  await using lab = await openHttpLab();
  const client = clientOf(lab);
  lab.edge.script = (run) => {
    run.emit({
      kind: 'tool-call',
      index: 0,
      id: 'call_a',
      name: 'weather',
      argumentsJson: '{"city":"Oslo"}',
    });
    run.complete({ finish: 'tool-calls' });
  };
  const tools = [
    { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } },
  ];
  const asked = await client.chat.completions.create({ model: 'qwen', messages, tools, tool_choice: 'auto' });
  const message = asked.choices[0]?.message;
  assert.ok(message);
  assert.equal(asked.choices[0]?.finish_reason, 'tool_calls');
  lab.edge.script = (run) => {
    run.emit({ kind: 'text', text: 'Cold.' });
    run.complete();
  };
  const answered = await client.chat.completions.create({
    model: 'qwen',
    messages: [...messages, message, { role: 'tool', tool_call_id: 'call_a', content: '-3' }],
    tools,
  });
  assert.equal(answered.choices[0]?.message.content, 'Cold.');
});

test('models: listed and retrieved, slashes included', async () => {
  await using lab = await openHttpLab();
  const client = clientOf(lab);
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  assert.deepEqual(ids, ['qwen', 'mock/echo']);
  assert.equal((await client.models.retrieve('mock/echo')).object, 'model');
  await assert.rejects(client.models.retrieve('none'), NotFoundError);
});

test('errors become the classes that callers catch', async () => {
  await using lab = await openHttpLab();
  const client = clientOf(lab);
  const create = () => client.chat.completions.create({ model: 'qwen', messages });
  await assert.rejects(clientOf(lab, { apiKey: 'wrong' }).models.list(), AuthenticationError);
  await assert.rejects(client.chat.completions.create({ model: 'qwen', messages: [] }), (error) => {
    assert.ok(error instanceof BadRequestError);
    assert.deepEqual([error.param, error.code], ['messages', 'empty_array']);
    return true;
  });
  lab.edge.refusal = { kind: 'unknown-target', asked: 'qwem', nearest: ['qwen'] };
  await assert.rejects(create(), NotFoundError);
  lab.edge.refusal = { kind: 'queue-full', asked: 'qwen', limit: 1, retryAfterMs: 10 };
  await assert.rejects(create(), RateLimitError);
  lab.edge.refusal = undefined;
  lab.edge.script = (run) => run.fail();
  await assert.rejects(create(), InternalServerError);
});

test('an error in the middle of a stream is thrown, and what came before was seen', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    delta(run, { role: 'assistant', content: 'half' });
    run.fail();
  };
  const stream = await clientOf(lab).chat.completions.create({ model: 'qwen', messages, stream: true });
  let text = '';
  await assert.rejects(
    async () => {
      for await (const part of stream) text += part.choices[0]?.delta.content ?? '';
    },
    (error) => error instanceof APIError && error.code === 'node.lost',
  );
  assert.equal(text, 'half');
});

test('the client repeats what did no work, and does not repeat what did', async () => {
  await using lab = await openHttpLab();
  const client = clientOf(lab, { maxRetries: 1 });
  lab.edge.script = (run) => {
    if (lab.edge.runs.length === 1) {
      const upstream = { status: 429, body: Buffer.from('{"error":{"message":"busy"}}'), retryAfterMs: 5 };
      run.fail({ kind: 'exhausted', retryable: true, upstream });
    } else run.complete();
  };
  await client.chat.completions.create({ model: 'qwen', messages });
  assert.equal(lab.edge.runs.length, 2);
  lab.edge.script = (run) => {
    run.raw('{"id":"half');
    run.fail({ retryable: true });
  };
  await assert.rejects(client.chat.completions.create({ model: 'qwen', messages }), InternalServerError);
  assert.equal(lab.edge.runs.length, 3);
});

test('abort in the middle of a stream cancels the run', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => delta(run, { role: 'assistant', content: 'a' });
  const stream = await clientOf(lab).chat.completions.create({ model: 'qwen', messages, stream: true });
  for await (const _part of stream) break;
  const run = await lab.edge.run(0);
  assert.equal(await run.cancelled, 'caller');
});

test('abort while waiting for a whole answer cancels the run', async () => {
  await using lab = await openHttpLab();
  const abort = new AbortController();
  const answer = clientOf(lab).chat.completions.create({ model: 'qwen', messages }, { signal: abort.signal });
  const rejected = assert.rejects(answer, APIUserAbortError);
  const run = await lab.edge.run(0);
  abort.abort();
  assert.equal(await run.cancelled, 'caller');
  await rejected;
});
