import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fields } from '../http/problem.ts';
import { toChatBody } from './chat-body.ts';
import { toCompacted } from './compaction-text.ts';
import { readAsk } from './response-ask.ts';

const base = { model: 'm' };

function translate(fields: Fields, history: readonly Fields[] = []): Fields {
  const outcome = toChatBody(readAsk({ ...base, ...fields }), history);
  assert.ok(outcome.kind === 'body', JSON.stringify(outcome));
  return JSON.parse(JSON.stringify(outcome.fields));
}

function problemOf(fields: Fields): string {
  const outcome = toChatBody(readAsk({ ...base, ...fields }), []);
  assert.ok(outcome.kind === 'problem', JSON.stringify(outcome));
  const { problem } = outcome;
  return `${problem.kind} ${problem.path}`;
}

test('a text is one message of the user, always streamed with usage', () => {
  assert.deepEqual(translate({ input: 'hi' }), {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('instructions, system and developer are one system message in front', () => {
  const input = [
    { role: 'developer', content: [{ type: 'input_text', text: 'Two.' }] },
    { role: 'user', content: 'hi' },
    { type: 'message', role: 'system', content: 'Three.' },
  ];
  assert.deepEqual(translate({ instructions: 'One.', input }).messages, [
    { role: 'system', content: 'One.\n\nTwo.\n\nThree.' },
    { role: 'user', content: 'hi' },
  ]);
});

test('thinking, words and calls of one turn are one message, their results follow it', () => {
  const input = [
    { role: 'user', content: 'weather?' },
    { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
    { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'sun' },
    { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'rain' }] },
    { type: 'message', role: 'assistant', content: 'Sun and rain.' },
    { role: 'assistant', content: 'Bye.' },
  ];
  const call = (id: string, json: string) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: json },
  });
  assert.deepEqual(translate({ input }).messages, [
    { role: 'user', content: 'weather?' },
    {
      role: 'assistant',
      content: 'Looking.',
      reasoning: 'hm',
      reasoning_content: 'hm',
      tool_calls: [call('a', '{"x":1}'), call('b', '{}')],
    },
    { role: 'tool', tool_call_id: 'a', content: 'sun' },
    { role: 'tool', tool_call_id: 'b', content: 'rain' },
    { role: 'assistant', content: 'Sun and rain.' },
    { role: 'assistant', content: 'Bye.' },
  ]);
});

test('images and files keep their parts, texts alone are one text', () => {
  const image = 'data:image/png;base64,AA';
  const content = [
    { type: 'input_text', text: 'What is it?' },
    { type: 'input_image', image_url: image, detail: 'low' },
    { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' },
  ];
  assert.deepEqual(translate({ input: [{ role: 'user', content }] }).messages, [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: image, detail: 'low' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' } },
      ],
    },
  ]);
  const texts = [content[0], { type: 'input_text', text: 'Say.' }];
  const [message] = translate({ input: [{ role: 'user', content: texts }] }).messages as {
    content: unknown;
  }[];
  assert.equal(message?.content, 'What is it?\nSay.');
});

test('settings have the names of a chat; what only engines know is passed on, the rest is not', () => {
  const format = { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true };
  const { messages, model, stream, stream_options, ...settings } = translate({
    input: 'hi',
    max_output_tokens: 5,
    temperature: 0,
    top_p: 0.5,
    top_logprobs: 2,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format, verbosity: 'low' },
    user: 'u',
    top_k: 3,
    metadata: { a: 'b' },
    client_metadata: {},
    include: ['reasoning.encrypted_content'],
    parallel_tool_calls: true,
    store: true,
  });
  const { type: _, ...schema } = format;
  assert.deepEqual(settings, {
    max_tokens: 5,
    temperature: 0,
    top_p: 0.5,
    logprobs: true,
    top_logprobs: 2,
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: schema },
    verbosity: 'low',
    user: 'u',
    top_k: 3,
  });
});

test('what was said before comes first, and a summary stands for what it replaces', () => {
  const history = [
    { role: 'user', content: 'one' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
  ];
  const input = [
    { type: 'compaction', encrypted_content: toCompacted('süß') },
    { role: 'user', content: 'three' },
  ];
  assert.deepEqual(
    (translate({ input }, history).messages as { content: string }[]).map(({ content }) => content),
    ['one', 'two', 'What was said before, as a summary:\n\nsüß', 'three'],
  );
});

test('what a chat has no place for is refused by its path', () => {
  const refused: [string, unknown][] = [
    ['value input[0].type', [{ type: 'web_search_call', id: 'ws_1' }]],
    ['value input[0].role', [{ role: 'robot', content: 'x' }]],
    ['value input[0].content[0].type', [{ role: 'user', content: [{ type: 'input_video' }] }]],
    [
      'value input[0].content[0].file_id',
      [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }],
    ],
    [
      'value input[0].content[0].file_url',
      [{ role: 'user', content: [{ type: 'input_file', file_url: 'f' }] }],
    ],
    ['missing input[0].call_id', [{ type: 'function_call_output', output: 'x' }]],
    ['missing input[0].arguments', [{ type: 'function_call', call_id: 'c', name: 'f' }]],
    ['type input[0].content', [{ role: 'user', content: 7 }]],
    ['value input[0].encrypted_content', [{ type: 'compaction', encrypted_content: 'theirs' }]],
    ['value input', []],
  ];
  for (const [expected, input] of refused) assert.equal(problemOf({ input }), expected);
});
