import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CancelCause, RunEnd } from '@iop/domain';
import type { LogEvent } from '../../ports/run-log.ts';
import type { Fields } from '../http/problem.ts';
import { identityOf } from './kept-response.ts';
import { type ResponseEvent, ResponseWriter } from './response-writer.ts';

const runId = `run_${'0'.repeat(25)}1`;
const completed: RunEnd = { kind: 'completed', finish: 'stop' };
const attempt: LogEvent = {
  kind: 'attempt',
  attempt: 1,
  node: 'n1',
  adapter: 'vllm',
  target: 't',
  route: '',
  waitedMs: 0,
  candidates: [],
};

function write(log: readonly LogEvent[], end: RunEnd = completed, ask: Fields = {}): ResponseEvent[] {
  const events: ResponseEvent[] = [];
  const identity = identityOf(runId, { model: 'm', input: 'hi', ...ask }, true);
  const writer = new ResponseWriter(identity, (event) => events.push(JSON.parse(JSON.stringify(event))));
  writer.begin();
  for (const event of log) writer.take(event);
  writer.finish(end, 7);
  return events;
}

function typesOf(events: readonly ResponseEvent[]): string[] {
  return events.map(({ type }) => type.replace('response.', ''));
}

function lastOf(events: readonly ResponseEvent[]): Fields {
  return events.at(-1)?.response as Fields;
}

function raw(text: string | Uint8Array, more = false): LogEvent {
  return { kind: 'raw', dialect: 'openai.chat', bytes: Buffer.from(text), more };
}

function chunk(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
}

test('a text: created, in progress, item, part, deltas, and all of them done', () => {
  assert.deepEqual(typesOf(write([attempt, { kind: 'text', text: 'a' }, { kind: 'text', text: 'b' }])), [
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ]);
});

test('in the background it is queued until it is dispatched', () => {
  const waiting = write([], { kind: 'cancelled', by: 'caller' }, { background: true });
  assert.deepEqual(typesOf(waiting), ['created', 'queued', 'in_progress', 'failed']);
  const begun = write([attempt], completed, { background: true }).slice(0, 3);
  assert.deepEqual(
    begun.map(({ response }) => (response as Fields).status),
    ['queued', 'queued', 'in_progress'],
  );
});

test('V1: the same log gives the same events, wherever its bytes are cut and whatever the Edge says between', () => {
  const text = [
    chunk({ reasoning: 'hm' }),
    chunk({ content: 'hé' }),
    chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"ü":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
  ].join('');
  const whole = write([attempt, raw(text)]);
  const bytes = Buffer.from(text);
  for (let size = 1; size < 30; size++) {
    const pieces: LogEvent[] = [attempt];
    for (let at = 0; at < bytes.length; at += size) {
      pieces.push(raw(bytes.subarray(at, at + size), true), { kind: 'state', state: 'running' });
    }
    assert.deepEqual(write(pieces), whole, `pieces of ${size}`);
  }
});

test('thoughts and words are items of their own; ids come from the response and the place', () => {
  const events = write([
    { kind: 'reasoning', text: 'hm' },
    { kind: 'text', text: 'a' },
    { kind: 'tool-call', index: 0, id: '', name: 'f', argumentsJson: '{}' },
  ]);
  const output = lastOf(events).output as Fields[];
  const suffix = runId.slice(4);
  assert.deepEqual(
    output.map(({ id, status }) => [id, status]),
    [
      [`rs_${suffix}_0`, 'completed'],
      [`msg_${suffix}_1`, 'completed'],
      [`fc_${suffix}_2`, 'completed'],
    ],
  );
  assert.equal(output[2]?.call_id, `call_${suffix}_0`);
});

test('calls of a namespace and of free text come back as what they were offered as', () => {
  const tools = [
    { type: 'namespace', name: 'files', tools: [{ type: 'function', name: 'read' }] },
    { type: 'custom', name: 'patch' },
  ];
  const events = write(
    [
      { kind: 'tool-call', index: 0, id: 'a', name: 'files__read', argumentsJson: '{}' },
      { kind: 'tool-call', index: 1, id: 'b', name: 'patch', argumentsJson: '{"input":' },
      { kind: 'tool-call', index: 1, id: 'b', name: 'patch', argumentsJson: '"+a"}' },
      { kind: 'tool-call', index: 2, id: 'c', name: 'patch', argumentsJson: 'no JSON' },
    ],
    completed,
    { tools },
  );
  const output = lastOf(events).output as Fields[];
  assert.deepEqual(
    output.map(({ type, name, namespace, input }) => [type, name, namespace, input]),
    [
      ['function_call', 'read', 'files', undefined],
      ['custom_tool_call', 'patch', undefined, '+a'],
      ['custom_tool_call', 'patch', undefined, 'no JSON'],
    ],
  );
  assert.equal(typesOf(events).filter((type) => type === 'custom_tool_call_input.delta').length, 2);
});

test('cut at a limit it is incomplete, its last item too, and every part is done', () => {
  for (const [finish, reason] of [
    ['length', 'max_output_tokens'],
    ['content-filter', 'content_filter'],
  ] as const) {
    const events = write([{ kind: 'text', text: 'a' }], { kind: 'completed', finish });
    const { status, incomplete_details: details, output, completed_at: at } = lastOf(events);
    assert.deepEqual([status, details, at], ['incomplete', { reason }, null]);
    assert.equal((output as Fields[])[0]?.status, 'incomplete');
    assert.deepEqual(typesOf(events).slice(-2), ['output_item.done', 'incomplete']);
  }
});

test('V2: what ended badly never says completed', () => {
  const failure = { code: 'node.lost', message: 'Lost.', details: {}, retryable: true };
  const failed: RunEnd = { kind: 'failed', failure: { ...failure, kind: 'unavailable' } };
  const { status, error, iop, output } = lastOf(write([{ kind: 'text', text: 'a' }], failed));
  assert.deepEqual([status, error], ['failed', { code: 'server_error', message: 'Lost.' }]);
  assert.equal((iop as Fields).error_code, 'node.lost');
  assert.equal((output as Fields[])[0]?.status, 'incomplete');

  const statuses = (
    ['caller', 'operator', 'superseded', 'deadline', 'drain', 'shutdown'] as CancelCause[]
  ).map((by) => lastOf(write([], { kind: 'cancelled', by })).status);
  assert.deepEqual(statuses, ['cancelled', 'cancelled', 'cancelled', 'failed', 'failed', 'failed']);
});

test('V2: an error in the stream, half an event and garbage fail a run that completed', () => {
  const broken = [
    [raw('data: {"error":{"message":"Out of memory","code":"context_length_exceeded"}}\n\n')],
    [raw('data: {"choi', true)],
    [raw('data: garbage\n\n')],
  ];
  const codes = broken.map((log) => {
    const { status, error } = lastOf(write([raw(chunk({ content: 'a' })), ...log]));
    return [status, (error as Fields).code];
  });
  assert.deepEqual(codes, [
    ['failed', 'context_length_exceeded'],
    ['failed', 'server_error'],
    ['failed', 'server_error'],
  ]);
});

test('usage is the last that the upstream said, else that of the end', () => {
  const usage = (count: number, details: object = {}) =>
    raw(
      `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens: count, ...details } })}\n\n`,
    );
  const details = {
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 1 },
  };
  const end: RunEnd = { ...completed, usage: { promptTokens: 1, completionTokens: 1, estimated: true } };
  assert.deepEqual(lastOf(write([usage(1), usage(2, details)], end)).usage, {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 11,
  });
  assert.equal((lastOf(write([], end)).usage as Fields).estimated, true);
});

test('a completed answer without a word has an empty message', () => {
  const [message] = lastOf(write([])).output as Fields[];
  assert.deepEqual(message?.content, [{ type: 'output_text', text: '', annotations: [], logprobs: [] }]);
});
