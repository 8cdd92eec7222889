import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeEvent } from '@iop/runtime';
import type { AnswerPart } from './answer-part.ts';
import { ChatAnswerReader } from './chat-answer-reader.ts';

test('text, thinking, refusal, finish and usage of chunks are parts', () => {
  const parts = readAll([
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning: 'hm' }),
    chunk({ reasoning_content: ' so' }),
    chunk({ content: 'hé', reasoning_content: null }),
    chunk({ refusal: 'no' }),
    chunk({}, 'length'),
    event({
      choices: [],
      usage: {
        prompt_tokens: 7,
        completion_tokens: 5,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    }),
  ]);
  assert.deepEqual(parts, [
    { kind: 'reasoning', text: 'hm' },
    { kind: 'reasoning', text: ' so' },
    { kind: 'text', text: 'hé' },
    { kind: 'refusal', text: 'no' },
    { kind: 'finish', finish: 'length' },
    {
      kind: 'usage',
      usage: { inputTokens: 7, cachedTokens: 3, outputTokens: 5, reasoningTokens: 2, estimated: false },
    },
  ]);
});

test('only the first choice is read', () => {
  const other = { index: 1, delta: { content: 'other' }, finish_reason: 'stop' };
  const first = { index: 0, delta: { content: 'first' }, finish_reason: null };
  assert.deepEqual(readAll([event({ choices: [other] }), event({ choices: [other, first] })]), [
    { kind: 'text', text: 'first' },
  ]);
});

test('calls are named once and numbered, with their arguments in pieces', () => {
  const parts = readAll([
    chunk(call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } })),
    chunk(call({ index: 0, function: { arguments: '{"x":' } })),
    chunk(call({ index: 1, id: 'b', function: { name: 'g', arguments: '{}' } })),
    chunk(call({ index: 0, function: { arguments: '1}' } })),
  ]);
  assert.deepEqual(parts, [
    { kind: 'tool-call', index: 0, id: 'a', name: 'f' },
    { kind: 'tool-arguments', index: 0, json: '{"x":' },
    { kind: 'tool-call', index: 1, id: 'b', name: 'g' },
    { kind: 'tool-arguments', index: 1, json: '{}' },
    { kind: 'tool-arguments', index: 0, json: '1}' },
  ]);
});

/** As seen in ollama#7881, #15457, litellm#20480 and #33678. */
const oddServers: Record<string, object[]> = {
  'gives every call the index 0': [
    { index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } },
    { index: 0, id: 'a', function: { arguments: '1}' } },
    { index: 0, id: 'b', function: { name: 'g', arguments: '{}' } },
  ],
  'gives no index': [
    { id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
    { id: 'b', function: { name: 'g', arguments: '{}' } },
  ],
  'repeats id and name in every piece': [
    { index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } },
    { index: 0, id: 'a', function: { name: 'f', arguments: '1}' } },
    { index: 1, id: 'b', function: { name: 'g', arguments: '{}' } },
  ],
  'gives the arguments as an object': [
    { index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } },
    { index: 1, id: 'b', function: { name: 'g', arguments: {} } },
  ],
  'gives the name after the first arguments': [
    { index: 0, id: 'a', function: { arguments: '{"x":' } },
    { index: 0, function: { name: 'f', arguments: '1}' } },
    { index: 1, id: 'b', function: { name: 'g', arguments: '{}' } },
  ],
  'counts from 1': [
    { index: 1, id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
    { index: 2, id: 'b', function: { name: 'g', arguments: '{}' } },
  ],
};

for (const [what, pieces] of Object.entries(oddServers)) {
  test(`two calls stay two where a server ${what}`, () => {
    const calls = joinCalls(readAll(pieces.map((piece) => chunk(call(piece)))));
    assert.deepEqual(calls, ['0 a f {"x":1}', '1 b g {}']);
  });
}

test('the parts of raw bytes do not depend on where these are cut', () => {
  const text = [
    ': a comment\n\n',
    chunk({ content: 'hé 😀' }),
    chunk({ content: ' two' }).replaceAll('\n', '\r\n'),
    'data: {"choices":[{"index":0,\r\ndata: "delta":{"content":"on two lines"}}]}\r\n\r\n',
    // a stray end of a line is no more than that
    '\r\n\n',
    chunk(call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"ü":1}' } })).replaceAll('\n', '\r'),
    `id: 3\nevent: message\n${chunk({}, 'tool_calls')}`,
    'data: [DONE]\n\n',
  ].join('');
  const bytes = Buffer.from(text);
  const whole = readAll([bytes]);
  assert.equal(whole.length, 6);
  for (let size = 1; size < 40; size++) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
    assert.deepEqual(readAll(pieces), whole, `pieces of ${size}`);
  }
});

test('an event that is not whole is seen', () => {
  const reader = new ChatAnswerReader();
  reader.read(raw('data: {"choices":'));
  assert.equal(reader.isHolding, true);
  reader.read(raw('[]}\n\n'));
  assert.equal(reader.isHolding, false);
});

test('an error in the stream is the last part', () => {
  const said = { message: 'CUDA out of memory', type: 'server_error', code: 500 };
  for (const text of [event({ error: said }), `event: error\n${event(said)}`]) {
    const parts = readAll([chunk({ content: 'a' }), text, chunk({ content: 'b' })]);
    assert.deepEqual(parts.slice(1), [
      { kind: 'error', error: { message: 'CUDA out of memory', type: 'server_error', code: '500' } },
    ]);
  }
});

test('what is no JSON, another dialect or endless is an error', () => {
  assert.equal(codeOf([raw('data: {"choi\n\n')]), 'upstream.malformed');
  assert.equal(codeOf([raw('data: 7\n\n')]), 'upstream.malformed');
  const other: RuntimeEvent = {
    kind: 'raw',
    dialect: 'openai.completions',
    bytes: Buffer.from('x'),
    more: false,
  };
  assert.equal(codeOf([other]), 'answer.unreadable');
  const endless = Array.from({ length: 65 }, () => raw('x'.repeat(64 * 1024), true));
  assert.equal(codeOf([raw('data: "', true), ...endless]), 'upstream.event-too-large');
});

test('typed events are parts as they are', () => {
  const reader = new ChatAnswerReader();
  const events: RuntimeEvent[] = [
    { kind: 'progress', message: 'loading' },
    { kind: 'reasoning', text: 'hm' },
    { kind: 'text', text: 'a' },
    { kind: 'tool-activity', id: '1', title: 'reads a file', status: 'started', detailJson: '{}' },
    { kind: 'tool-call', index: 0, id: '', name: 'f', argumentsJson: '{"x":' },
    { kind: 'tool-call', index: 0, id: '', name: 'f', argumentsJson: '1}' },
    { kind: 'usage', usage: { promptTokens: 1, completionTokens: 2, estimated: true } },
  ];
  assert.deepEqual(
    events.flatMap((each) => reader.read(each)),
    [
      { kind: 'reasoning', text: 'hm' },
      { kind: 'text', text: 'a' },
      { kind: 'activity', title: 'reads a file' },
      { kind: 'tool-call', index: 0, id: '', name: 'f' },
      { kind: 'tool-arguments', index: 0, json: '{"x":' },
      { kind: 'tool-arguments', index: 0, json: '1}' },
      {
        kind: 'usage',
        usage: { inputTokens: 1, cachedTokens: 0, outputTokens: 2, reasoningTokens: 0, estimated: true },
      },
    ],
  );
});

test('a body that was not streamed is read at its end', () => {
  const message = {
    role: 'assistant',
    content: 'hé',
    tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
  };
  const usage = { prompt_tokens: 1, completion_tokens: 2 };
  const body = Buffer.from(
    JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage }),
  );
  const reader = new ChatAnswerReader({ isWhole: true });
  const cut = body.indexOf('é') + 1;
  for (const piece of [body.subarray(0, cut), body.subarray(cut)])
    assert.deepEqual(reader.read(raw(piece)), []);
  assert.deepEqual(
    reader.end().map(({ kind }) => kind),
    ['text', 'tool-call', 'tool-arguments', 'finish', 'usage'],
  );
  assert.deepEqual(new ChatAnswerReader({ isWhole: true }).end(), []);
});

test('log probabilities come with their text', () => {
  const logprobs = { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] };
  const [part] = readAll([event({ choices: [{ index: 0, delta: { content: 'a' }, logprobs }] })]);
  assert.deepEqual(part, { kind: 'text', text: 'a', logprobs: logprobs.content });
});

function readAll(pieces: readonly (string | Uint8Array)[]): readonly AnswerPart[] {
  const reader = new ChatAnswerReader();
  return pieces.flatMap((piece) => reader.read(raw(piece)));
}

function codeOf(events: readonly RuntimeEvent[]): string | undefined {
  const reader = new ChatAnswerReader();
  const part = events.flatMap((each) => reader.read(each)).at(-1);
  return part?.kind === 'error' ? part.error.code : part?.kind;
}

function joinCalls(parts: readonly AnswerPart[]): string[] {
  const calls: string[] = [];
  for (const part of parts) {
    if (part.kind === 'tool-call') calls[part.index] = `${part.index} ${part.id} ${part.name} `;
    else if (part.kind === 'tool-arguments') calls[part.index] += part.json;
  }
  return calls;
}

function raw(bytes: string | Uint8Array, more = false): RuntimeEvent {
  return { kind: 'raw', dialect: 'openai.chat', bytes: Buffer.from(bytes), more };
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function chunk(delta: object, finish: string | null = null): string {
  return event({ choices: [{ index: 0, delta, finish_reason: finish }] });
}

function call(piece: object): object {
  return { tool_calls: [piece] };
}
