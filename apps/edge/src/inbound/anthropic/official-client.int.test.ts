import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServiceUnavailableError,
} from '@anthropic-ai/sdk';
import { type HttpLab, openHttpLab } from '../../testing/http-lab.ts';
import { goodKey, type ScriptedRun } from '../../testing/scripted-edge.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];
const plain = { model: 'qwen', max_tokens: 64, messages };

function clientOf(lab: HttpLab, options: { apiKey?: string; maxRetries?: number } = {}): Anthropic {
  return new Anthropic({ baseURL: lab.url, apiKey: goodKey, maxRetries: 0, ...options });
}

function chunk(run: ScriptedRun, choices: unknown[], extra: object = {}): void {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'Qwen' };
  run.chunk({ ...head, choices, ...extra });
}

function delta(run: ScriptedRun, value: object, finish: string | null = null): void {
  chunk(run, [{ index: 0, delta: value, logprobs: null, finish_reason: finish }]);
}

function playHello(run: ScriptedRun): void {
  delta(run, { role: 'assistant', content: '' });
  delta(run, { reasoning_content: 'they greet' });
  for (const content of ['Hel', 'lo']) delta(run, { content });
  delta(run, {}, 'stop');
  chunk(run, [], { usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } });
  run.complete();
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

const thought = { type: 'thinking', thinking: 'they greet' };

test('a whole message: blocks, why it stopped, usage, and the request id that the client shows', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playHello;
  const message = await clientOf(lab).messages.create(plain);
  const [thinking, text] = message.content;
  assert.ok(thinking?.type === 'thinking' && text?.type === 'text');
  assert.deepEqual([thinking.thinking, text.text, message.content.length], ['they greet', 'Hello', 2]);
  assert.notEqual(thinking.signature, '');
  assert.deepEqual([message.stop_reason, message.role, message.model], ['end_turn', 'assistant', 'qwen']);
  assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [11, 7]);
  assert.match(message.id, /^msg_0{26}$/);
  assert.match(message._request_id ?? '', /^req_/);
});

test('a stream: the accumulator makes the same message of it', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playHello;
  const stream = clientOf(lab).messages.stream(plain);
  const seen: string[] = [];
  stream.on('text', (text) => seen.push(text));
  const message = await stream.finalMessage();
  const whole = await clientOf(lab).messages.create(plain);
  assert.deepEqual(seen, ['Hel', 'lo']);
  assert.equal(message.content[0]?.type === 'thinking' && message.content[0].thinking, thought.thinking);
  assert.deepEqual(message.content[1], whole.content[1]);
  assert.deepEqual(message.usage.input_tokens, 11);
  assert.equal(message.stop_reason, whole.stop_reason);
  assert.equal(stream.request_id, (await stream.withResponse()).request_id);
});

test('parallel tool calls come out one after the other, whatever the upstream mixes', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playToolCalls;
  const stream = clientOf(lab).messages.stream(plain);
  const indexes: number[] = [];
  stream.on('streamEvent', (event) => {
    if ('index' in event) indexes.push(event.index);
  });
  const message = await stream.finalMessage();
  const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  assert.deepEqual(
    calls.map(({ id, name, input }) => ({ id, name, input })),
    [
      { id: 'call_a', name: 'weather', input: { city: 'Oslo' } },
      { id: 'call_b', name: 'time', input: { zone: 'CET' } },
    ],
  );
  assert.deepEqual(indexes, indexes.toSorted());
  assert.equal(message.stop_reason, 'tool_use');
  const whole = await clientOf(lab).messages.create(plain);
  assert.deepEqual(whole.content, message.content);
});

test('errors become the classes that callers catch', async () => {
  await using lab = await openHttpLab();
  const client = clientOf(lab);
  const create = () => client.messages.create(plain);
  await assert.rejects(clientOf(lab, { apiKey: 'wrong' }).messages.create(plain), AuthenticationError);
  await assert.rejects(client.messages.create({ ...plain, messages: [] }), (error) => {
    assert.ok(error instanceof BadRequestError);
    assert.deepEqual([error.type, error.errorCode], ['invalid_request_error', 'empty_array']);
    assert.match(error.requestID ?? '', /^req_/);
    return true;
  });
  const refusals = [
    [{ kind: 'unknown-target', asked: 'qwem', nearest: ['qwen'] }, NotFoundError, 'not_found_error'],
    [{ kind: 'forbidden-target', asked: 'qwen', keyId: 'a' }, PermissionDeniedError, 'permission_error'],
    [{ kind: 'queue-full', asked: 'qwen', limit: 1, retryAfterMs: 10 }, RateLimitError, 'rate_limit_error'],
    [
      { kind: 'no-node', asked: 'qwen', detail: 'none is up', retryAfterMs: 10 },
      ServiceUnavailableError,
      'overloaded_error',
    ],
  ] as const;
  for (const [refusal, kind, type] of refusals) {
    lab.edge.refusal = refusal;
    await assert.rejects(create(), (error) => error instanceof kind && error.type === type);
  }
  lab.edge.refusal = undefined;
  lab.edge.script = (run) => run.fail({ kind: 'internal' });
  await assert.rejects(
    create(),
    (error) => error instanceof InternalServerError && error.type === 'api_error',
  );
  const upstream = { status: 400, body: Buffer.from('{"error":{"message":"maximum context length is 8"}}') };
  lab.edge.script = (run) => run.fail({ kind: 'invalid', upstream });
  await assert.rejects(create(), /prompt is too long: maximum context length is 8/);
});

test('an error in the middle of a stream is thrown, and what came before was seen', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    delta(run, { role: 'assistant', content: 'half' });
    run.fail();
  };
  const stream = await clientOf(lab).messages.create({ ...plain, stream: true });
  let text = '';
  const types: string[] = [];
  await assert.rejects(
    async () => {
      for await (const event of stream) {
        types.push(event.type);
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
          text += event.delta.text;
      }
    },
    (error) =>
      error instanceof APIError && error.type === 'overloaded_error' && error.errorCode === 'node.lost',
  );
  assert.equal(text, 'half');
  assert.ok(!types.includes('message_stop'));
});

test('abort cancels the run, in mid-stream and while a whole message is waited for', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => delta(run, { role: 'assistant', content: 'a' });
  const stream = await clientOf(lab).messages.create({ ...plain, stream: true });
  for await (const event of stream) if (event.type === 'content_block_delta') break;
  assert.equal(await (await lab.edge.run(0)).cancelled, 'caller');
  const abort = new AbortController();
  const answer = clientOf(lab).messages.create(plain, { signal: abort.signal });
  const rejected = assert.rejects(answer, APIUserAbortError);
  const run = await lab.edge.run(1);
  abort.abort();
  assert.equal(await run.cancelled, 'caller');
  await rejected;
});

test('the same idempotency key attaches to the same run; another body is a conflict', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = playHello;
  const options = { idempotencyKey: 'once', headers: { 'idempotency-key': 'once' } };
  const first = await clientOf(lab).messages.create(plain, options);
  const again = await clientOf(lab).messages.create(plain, options);
  assert.deepEqual([again.id, again.content, lab.edge.runs.length], [first.id, first.content, 1]);
  await assert.rejects(clientOf(lab).messages.create({ ...plain, max_tokens: 1 }, options), ConflictError);
});

test('count_tokens: the number of the engine, or an estimate', async () => {
  await using lab = await openHttpLab();
  lab.edge.script = (run) => {
    assert.deepEqual(run.intent.raw, { path: 'messages/count_tokens', contentType: 'application/json' });
    run.raw('{"input_tokens":42}');
    run.complete();
  };
  const count = () => clientOf(lab).messages.countTokens({ model: 'qwen', messages });
  assert.equal((await count()).input_tokens, 42);
  lab.edge.refusal = { kind: 'unsupported-dialect', asked: 'qwen', dialect: 'openai.raw' };
  const { input_tokens: tokens } = await count();
  assert.ok(tokens > 1 && tokens < 20, String(tokens));
});
