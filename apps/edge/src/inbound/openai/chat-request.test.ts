import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChatRequest } from './chat-request.ts';

const messages = [{ role: 'user', content: 'hello' }];

function parse(value: unknown) {
  return parseChatRequest(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
}

function refusalOf(value: unknown) {
  const outcome = parse(value);
  assert.equal(outcome.kind, 'refused');
  const { status, param, code, message, type } = outcome.refusal;
  assert.deepEqual([status, type], [400, 'invalid_request_error']);
  return { param, code, message };
}

test('what the door needs is read: model, stream, usage', () => {
  assert.deepEqual(parse({ model: 'a/b', messages }), {
    kind: 'request',
    request: { model: 'a/b', stream: false, includeUsage: false },
  });
  assert.deepEqual(parse({ model: 'q', messages, stream: true, stream_options: { include_usage: true } }), {
    kind: 'request',
    request: { model: 'q', stream: true, includeUsage: true },
  });
});

const accepted: readonly (readonly [what: string, fields: object])[] = [
  ['unknown fields', { store: true, metadata: {}, prompt_cache_key: 'x', whatever: [1] }],
  [
    'nulls for what is not set',
    { stream: null, n: null, tools: null, tool_choice: null, stream_options: null },
  ],
  [
    'roles and parts that are newer than this code',
    { messages: [{ role: 'developer', content: [{ type: 'hologram' }] }] },
  ],
  ['an assistant turn without content', { messages: [{ role: 'assistant', content: null, tool_calls: [] }] }],
  ['tools of every kind', { tools: [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }] }],
  ['a named tool choice', { tool_choice: { type: 'function', function: { name: 'f' } } }],
  ['a schema as response format', { response_format: { type: 'json_schema', json_schema: { name: 'x' } } }],
  ['both limits and stop in both shapes', { max_tokens: 1, max_completion_tokens: 1, stop: ['a'] }],
];

for (const [what, fields] of accepted) {
  test(`${what}: passed through`, () => {
    assert.equal(parse({ model: 'q', messages, ...fields }).kind, 'request');
  });
}

const refused: readonly (readonly [fields: object, param: string, code: string])[] = [
  [{ model: undefined }, 'model', 'missing_required_parameter'],
  [{ model: 7 }, 'model', 'invalid_type'],
  [{ model: null }, 'model', 'invalid_type'],
  [{ model: '' }, 'model', 'invalid_value'],
  [{ messages: undefined }, 'messages', 'missing_required_parameter'],
  [{ messages: 'hello' }, 'messages', 'invalid_type'],
  [{ messages: [] }, 'messages', 'empty_array'],
  [{ messages: ['hello'] }, 'messages[0]', 'invalid_type'],
  [{ messages: [messages[0], {}] }, 'messages[1].role', 'missing_required_parameter'],
  [{ messages: [{ role: 1 }] }, 'messages[0].role', 'invalid_type'],
  [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', 'invalid_type'],
  [{ stream: 'true' }, 'stream', 'invalid_type'],
  [{ n: '2' }, 'n', 'invalid_type'],
  [{ n: 1.5 }, 'n', 'invalid_type'],
  [{ n: 0 }, 'n', 'integer_below_min_value'],
  [{ stream_options: true }, 'stream_options', 'invalid_type'],
  [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage', 'invalid_type'],
  [{ tools: {} }, 'tools', 'invalid_type'],
  [{ tools: ['f'] }, 'tools[0]', 'invalid_type'],
  [{ tools: [{}] }, 'tools[0].type', 'missing_required_parameter'],
  [{ tools: [{ type: 'function' }] }, 'tools[0].function', 'missing_required_parameter'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name', 'missing_required_parameter'],
  [{ tool_choice: 1 }, 'tool_choice', 'invalid_type'],
  [{ response_format: 'json' }, 'response_format', 'invalid_type'],
  [{ response_format: {} }, 'response_format.type', 'missing_required_parameter'],
];

for (const [fields, param, code] of refused) {
  test(`${JSON.stringify(fields)} is refused at ${param} (${code})`, () => {
    const refusal = refusalOf({ model: 'q', messages, ...fields });
    assert.deepEqual([refusal.param, refusal.code], [param, code]);
    assert.ok(refusal.message.includes(param));
  });
}

test('what is no JSON object is refused with the place of the fault', () => {
  assert.match(refusalOf('{"model":"q",}').message, /at position 13 \(line 1, column 14\)/);
  assert.match(refusalOf('').message, /empty/);
  assert.match(refusalOf('[1]').message, /a JSON object, not an array/);
  assert.match(refusalOf('"x"').message, /not a string/);
  assert.match(refusalOf('null').message, /not null/);
  const outcome = parseChatRequest(Buffer.from([0x7b, 0xff, 0x7d]));
  assert.equal(outcome.kind === 'refused' && outcome.refusal.message, 'The request body is not UTF-8.');
});

test('nesting of any depth is read without harm', () => {
  const deep = `{"model":"q","messages":[{"role":"user"}],"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
  assert.equal(parse(deep).kind, 'request');
});

test('names from the prototype are no fields', () => {
  assert.equal(refusalOf('{"messages":[{"role":"user"}],"__proto__":{"model":"q"}}').param, 'model');
});
