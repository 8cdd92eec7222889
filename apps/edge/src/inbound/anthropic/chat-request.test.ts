import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessagesRequest } from './chat-request.ts';
import { findProblem } from './request-checks.ts';

function parse(fields: object) {
  const body = { model: 'qwen', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields };
  return parseMessagesRequest(Buffer.from(JSON.stringify(body)), findProblem);
}

function translated(fields: object) {
  const parsed = parse(fields);
  assert.ok(parsed.kind === 'request', JSON.stringify(parsed));
  return parsed.request;
}

function problemOf(fields: object): [string | undefined, string | null, number] {
  const parsed = parse(fields);
  assert.ok(parsed.kind === 'refused');
  const { param, code, status } = parsed.refusal;
  return [param, code, status];
}

const tool = { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: {} } };
const chatTool = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: tool.input_schema },
};
const pixel = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const pixelPart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

test('a plain request is a streamed chat with its usage', () => {
  const { chat, stream } = translated({ stream: true, temperature: 0.5, top_k: 4, stop_sequences: ['END'] });
  assert.equal(stream, true);
  assert.deepEqual(chat, {
    model: 'qwen',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 9,
    temperature: 0.5,
    top_k: 4,
    stop: ['END'],
    stream: true,
    stream_options: { include_usage: true },
  });
});

test('a whole turn of an agent: thoughts, calls, results with an error and an image', () => {
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'look', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'redacted_thinking', data: 'secret' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } },
        { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'blue' }, pixel] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no eyes', is_error: true },
        { type: 'text', text: 'And now?' },
      ],
    },
  ];
  const call = (id: string, args: string) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: args },
  });
  assert.deepEqual(translated({ messages }).chat.messages, [
    { role: 'user', content: 'look' },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'hm',
      tool_calls: [call('toolu_1', '{"at":"sky"}'), call('toolu_2', '{}')],
    },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'blue\n(1 image(s): see below)' },
    { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: no eyes' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Images that the tool call toolu_1 gave:' },
        pixelPart,
        { type: 'text', text: 'And now?' },
      ],
    },
  ]);
});

test('the system prompt is one text without the billing header; system messages between others keep their place', () => {
  const system = [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2' },
    { type: 'text', text: 'You are terse.' },
  ];
  const user = (content: string) => ({ role: 'user', content });
  const messages = [
    user('one'),
    { role: 'system', content: 'Be kind.' },
    { role: 'system', content: 'Gone.', clear_at: 'next_user_message' },
    { role: 'assistant', content: 'two' },
    user('three'),
  ];
  assert.deepEqual(translated({ system, messages }).chat.messages, [
    { role: 'system', content: 'You are terse.' },
    user('one\n<system-reminder>\nBe kind.\n</system-reminder>'),
    { role: 'assistant', content: 'two' },
    user('three'),
  ]);
});

test('documents and search results are shown as texts', () => {
  const document = {
    type: 'document',
    title: 'T',
    source: { type: 'text', media_type: 'text/plain', data: 'D' },
  };
  const found = {
    type: 'search_result',
    title: 'F',
    source: 'http://x',
    content: [{ type: 'text', text: 'R' }],
  };
  const { chat } = translated({ messages: [{ role: 'user', content: [document, found] }] });
  assert.deepEqual(chat.messages, [{ role: 'user', content: 'T\nD\nF (http://x)\nR' }]);
});

test('tools and every tool_choice', () => {
  const choose = (choice: object) => translated({ tools: [tool], tool_choice: choice }).chat;
  assert.deepEqual(choose({ type: 'auto' }).tools, [chatTool]);
  assert.equal(choose({ type: 'any' }).tool_choice, 'required');
  assert.equal(choose({ type: 'none' }).tool_choice, 'none');
  assert.deepEqual(choose({ type: 'tool', name: 'look' }).tool_choice, {
    type: 'function',
    function: { name: 'look' },
  });
  assert.equal(choose({ type: 'auto', disable_parallel_tool_use: true }).parallel_tool_calls, false);
});

test('tools that only Anthropic can serve are named, and refused if one of them must be called', () => {
  const search = { type: 'web_search_20250305', name: 'web_search' };
  const request = translated({
    tools: [search, tool],
    mcp_servers: [{ type: 'url', name: 'wiki', url: 'x' }],
  });
  assert.deepEqual(request.unsupportedTools, ['web_search (web_search_20250305)', 'MCP server wiki']);
  assert.deepEqual(request.chat.tools, [chatTool]);
  const choose = (choice: object) => problemOf({ tools: [search], tool_choice: choice });
  assert.deepEqual(choose({ type: 'any' }), ['tool_choice.type', 'unsupported', 400]);
  assert.deepEqual(choose({ type: 'tool', name: 'web_search' }), ['tool_choice.name', 'unsupported', 400]);
});

test('a deferred tool is shown once the conversation names it', () => {
  const names = (fields: object) => translated(fields).chat.tools?.map((each) => each.function.name);
  const tools = [tool, { ...tool, name: 'late', defer_loading: true }];
  const messages = (...blocks: object[]) => [
    { role: 'user', content: 'x' },
    { role: 'system', content: blocks },
  ];
  const reference = { type: 'tool_reference', name: 'late' };
  const removal = { type: 'tool_removal', tool: { type: 'tool_reference', name: 'look' } };
  assert.deepEqual(names({ tools }), ['look']);
  assert.deepEqual(names({ tools, messages: messages({ type: 'tool_addition', tool: reference }) }), [
    'look',
    'late',
  ]);
  assert.equal(names({ tools, messages: messages(removal) }), undefined);
  const result = {
    type: 'tool_result',
    tool_use_id: 'a',
    content: [{ type: 'tool_reference', tool_name: 'late' }],
  };
  assert.deepEqual(names({ tools, messages: [{ role: 'user', content: [result] }] }), ['look', 'late']);
  const server = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
  assert.deepEqual(names({ tools: [...tools, server] }), ['look', 'late']);
});

test('a JSON schema, an effort and a user', () => {
  const schema = { type: 'object' };
  const format = { type: 'json_schema', schema };
  const asked = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
  assert.deepEqual(translated({ output_config: { format } }).chat.response_format, asked);
  assert.deepEqual(translated({ output_format: format }).chat.response_format, asked);
  const effort = (word: string) => translated({ output_config: { effort: word } }).chat.reasoning_effort;
  assert.deepEqual(['low', 'high', 'max'].map(effort), ['low', undefined, 'high']);
  assert.equal(translated({ metadata: { user_id: 'u' } }).chat.user, 'u');
});

test('what is wrong is said with its place', () => {
  const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
  assert.deepEqual(problemOf({ max_tokens: undefined }), ['max_tokens', 'missing_required_parameter', 400]);
  assert.deepEqual(problemOf({ max_tokens: 0 }), ['max_tokens', 'integer_below_min_value', 400]);
  assert.deepEqual(problemOf({ messages: [{ role: 'tool', content: '' }] })[0], 'messages[0].role');
  assert.deepEqual(problemOf(user({ type: 'audio' })), ['messages[0].content[0].type', 'unsupported', 400]);
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: '' } };
  assert.deepEqual(problemOf(user(pdf)), ['messages[0].content[0].source.type', 'unsupported', 400]);
  assert.deepEqual(problemOf({ tools: [{ name: 'x' }] })[0], 'tools[0].input_schema');
  assert.deepEqual(problemOf({ system: 5 })[0], 'system');
  assert.deepEqual(problemOf({ thread: { type: 'create' } }), ['thread', 'thread_unsupported_request', 400]);
});
