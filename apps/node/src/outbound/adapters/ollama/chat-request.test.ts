import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatSpec } from '../../../testing/specs.ts';
import { toOllamaChat } from './chat-request.ts';
import type { RequestSettings } from './ollama-request.ts';

const plain: RequestSettings = { numCtx: 0, keepAlive: '', think: undefined };
const hello = [{ role: 'user', content: 'hello' }];

function translate(request: Record<string, unknown>, settings: Partial<RequestSettings> = {}) {
  const body = Buffer.from(JSON.stringify({ model: 'public', messages: hello, ...request }));
  return toOllamaChat(chatSpec('qwen3:8b', { body }), { ...plain, ...settings });
}

function bodyOf(request: Record<string, unknown>, settings: Partial<RequestSettings> = {}) {
  const outcome = translate(request, settings);
  if (outcome.kind === 'refused') throw new Error(outcome.failure.message);
  return JSON.parse(Buffer.from(outcome.body).toString());
}

function refusalOf(request: Record<string, unknown>) {
  const outcome = translate(request);
  if (outcome.kind !== 'refused') throw new Error('expected a refusal');
  return outcome.failure;
}

const image = (url: unknown) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
});

const called = (args: unknown) => ({
  messages: [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: args } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'sunny' }] },
  ],
});

describe('ollama: a chat request', () => {
  it('always streams and is never shortened unseen (O8)', () => {
    assert.deepEqual(bodyOf({ stream: false }), {
      model: 'qwen3:8b',
      messages: hello,
      stream: true,
      truncate: false,
      shift: false,
    });
  });

  it('keeps the conversation: developer as system, parts as one text', () => {
    const messages = [
      { role: 'developer', content: 'be short' },
      { role: 'system', content: 'be kind' },
      {
        role: 'user',
        name: 'Ada',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: 'c', reasoning_content: 'hm' },
    ];
    assert.deepEqual(bodyOf({ messages }).messages, [
      { role: 'system', content: 'be short' },
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'a\nb' },
      { role: 'assistant', content: 'c', thinking: 'hm' },
    ]);
  });

  it('gives arguments of earlier tool calls as objects and results with their names (O5)', () => {
    assert.deepEqual(bodyOf(called('{"city":"Bern"}')).messages, [
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', function: { index: 0, name: 'weather', arguments: { city: 'Bern' } } }],
      },
      { role: 'tool', content: 'sunny', tool_call_id: 'call_1', tool_name: 'weather' },
    ]);
    assert.deepEqual(bodyOf(called('')).messages[0].tool_calls[0].function.arguments, {});
    const nameless = called('{"city":"Bern"}');
    const { id: _id, ...call } = nameless.messages[0]?.tool_calls?.[0] ?? assert.fail();
    const messages = [{ ...nameless.messages[0], tool_calls: [call] }];
    assert.deepEqual(bodyOf({ messages }).messages[0].tool_calls[0].function.arguments, { city: 'Bern' });
  });

  for (const args of ['{"city":', '[1]', '"x"', 7]) {
    it(`refuses arguments that are no object: ${args}`, () => {
      const failure = refusalOf(called(args));
      assert.deepEqual([failure.kind, failure.code], ['invalid', 'request.invalid']);
      assert.match(failure.message, /^messages\[0\]\.tool_calls\[0\]\.function\.arguments: expected a JSON/);
    });
  }

  it('gives images as bare base64', () => {
    const [message] = bodyOf(image('data:image/png;base64,aGVsbG8=')).messages;
    assert.deepEqual(message, { role: 'user', content: '', images: ['aGVsbG8='] });
  });

  it('refuses images that would have to be fetched, and says what to send', () => {
    const failure = refusalOf(image('https://example.com/cat.png'));
    assert.equal(failure.kind, 'unsupported');
    assert.match(failure.message, /messages\[0\]\.content\[0\]\.image_url: .*nothing is fetched.*base64/);
    assert.equal(refusalOf(image('data:image/png,raw')).kind, 'unsupported');
    assert.equal(refusalOf(image('data:image/png;base64,a b')).kind, 'invalid');
    assert.equal(refusalOf(image(7)).kind, 'invalid');
  });

  it('carries how to sample and when to stop', () => {
    const request = {
      max_tokens: 5,
      max_completion_tokens: 9,
      temperature: 0,
      top_p: 0.5,
      seed: 1,
      stop: 'x',
    };
    assert.deepEqual(
      bodyOf({ ...request, top_k: 3, repetition_penalty: 1.1, presence_penalty: null }).options,
      {
        num_predict: 9,
        temperature: 0,
        top_p: 0.5,
        seed: 1,
        stop: ['x'],
        top_k: 3,
        repeat_penalty: 1.1,
      },
    );
  });

  it('takes formats', () => {
    const schema = { type: 'object', properties: {} };
    const json_schema = { name: 'x', schema };
    assert.deepEqual(bodyOf({ response_format: { type: 'json_schema', json_schema } }).format, schema);
    assert.equal(bodyOf({ response_format: { type: 'json_object' } }).format, 'json');
    assert.equal(bodyOf({ response_format: { type: 'text' } }).format, undefined);
    assert.equal(refusalOf({ response_format: { type: 'json_schema' } }).kind, 'invalid');
    assert.equal(refusalOf({ response_format: { type: 'xml' } }).kind, 'unsupported');
  });

  it('thinks as the caller says, else as it is configured', () => {
    assert.equal(bodyOf({ reasoning_effort: 'none' }, { think: true }).think, false);
    assert.equal(bodyOf({ reasoning_effort: 'minimal' }).think, 'low');
    assert.equal(bodyOf({}, { think: 'high' }).think, 'high');
    assert.equal(bodyOf({}).think, undefined);
    assert.match(refusalOf({ reasoning_effort: 'lots' }).message, /reasoning_effort: expected one of none/);
  });

  it('carries what is configured; a caller cannot have a model reloaded (O11)', () => {
    const body = bodyOf({ num_ctx: 1, options: { num_ctx: 1 } }, { numCtx: 8192, keepAlive: '-1' });
    assert.deepEqual([body.options, body.keep_alive], [{ num_ctx: 8192 }, -1]);
    assert.equal(bodyOf({ num_ctx: 1, options: { num_ctx: 1 } }).options, undefined);
    assert.equal(bodyOf({}, { keepAlive: '5m' }).keep_alive, '5m');
  });

  it('gives tools, and none if none may be called', () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    assert.deepEqual(bodyOf({ tools, tool_choice: 'auto', parallel_tool_calls: true }).tools, tools);
    assert.equal(bodyOf({ tools, tool_choice: 'none' }).tools, undefined);
  });

  for (const [param, value] of Object.entries({
    n: 2,
    logit_bias: { 5: 1 },
    logprobs: true,
    tool_choice: 'required',
    modalities: ['text', 'audio'],
    functions: [],
    web_search_options: {},
  })) {
    it(`refuses ${param} by name (O1)`, () => {
      const failure = refusalOf({ [param]: value });
      assert.deepEqual(
        [failure.kind, failure.code, failure.details.param, failure.retryable],
        ['unsupported', 'request.unsupported', param, false],
      );
      assert.ok(failure.message.startsWith(`${param}: `), failure.message);
    });
  }

  it('takes the values of these that ask for nothing, and hints', () => {
    const nothing = { n: 1, logit_bias: {}, logprobs: false, modalities: ['text'], tool_choice: null };
    bodyOf({ ...nothing, user: 'u', store: false, metadata: {}, stream_options: { include_usage: true } });
  });

  it('names what it does not know of a message', () => {
    assert.match(refusalOf({ messages: [{ role: 'robot', content: 'x' }] }).message, /messages\[0\]\.role/);
    const content = [{ type: 'input_audio', input_audio: {} }];
    assert.match(refusalOf({ messages: [{ role: 'user', content }] }).message, /"input_audio" cannot/);
    assert.match(refusalOf({ tools: [{ type: 'custom' }] }).message, /tools\[0\]: only functions.*"custom"/);
    assert.equal(refusalOf({ messages: [] }).kind, 'invalid');
    assert.equal(refusalOf({ temperature: 'hot', stop: [1] }).message.split('; ').length, 2);
    assert.equal(refusalOf({ max_tokens: -1 }).kind, 'invalid');
  });

  it('that is no JSON object is refused', () => {
    const outcome = toOllamaChat(chatSpec('m', { body: Buffer.from('[1]') }), plain);
    assert.equal(outcome.kind === 'refused' && outcome.failure.code, 'request.invalid-json');
  });

  it('may be a plain prompt', () => {
    const spec = chatSpec('m', { dialect: 'iop.prompt', body: Buffer.from('what is {"n":2}?') });
    const outcome = toOllamaChat(spec, plain);
    assert.equal(outcome.kind, 'request');
    if (outcome.kind !== 'request') return;
    const { messages } = JSON.parse(Buffer.from(outcome.body).toString());
    assert.deepEqual(messages, [{ role: 'user', content: 'what is {"n":2}?' }]);
    assert.equal(outcome.textLength, 16);
  });
});
