import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerIntake, isRefusal } from './answer-intake.ts';
import { MessageEvents } from './message-events.ts';

const zero = { inputTokens: 1, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0, estimated: true };

function eventsOf(pieces: readonly Uint8Array[]): string {
  const events = new MessageEvents(
    () => ({ id: 'msg_1', model: 'm', unsupportedTools: [] }),
    () => zero,
  );
  const intake = new AnswerIntake(events);
  let text = '';
  for (const bytes of pieces) {
    assert.equal(intake.take({ kind: 'raw', dialect: 'openai.chat', bytes, more: false }), undefined);
    text += events.take();
  }
  const end = intake.complete({ kind: 'completed', finish: 'stop' }, () => zero);
  assert.ok(!isRefusal(end));
  events.finish(end);
  return text + events.take();
}

function chunk(delta: object, more: object = {}): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
}

const call = (index: number, part: object) => chunk({ tool_calls: [{ index, ...part }] });
const named = (index: number, name: string) =>
  call(index, { id: `call_${index}`, type: 'function', function: { name, arguments: '' } });
const piece = (index: number, text: string) => call(index, { function: { arguments: text } });

const answer = Buffer.from(
  [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Überlegung 🤔' }),
    chunk({ content: 'Grüße, 세계' }),
    named(0, 'one'),
    named(1, 'two'),
    piece(1, '{"b":"}'),
    piece(0, '{"a":'),
    piece(1, '{"}'),
    piece(0, '1}'),
    chunk({}, { finish_reason: 'tool_calls' }),
    'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}}}\n\n',
  ].join(''),
);

test('the same bytes make the same events, wherever they are cut', () => {
  const whole = eventsOf([answer]);
  for (let at = 1; at < answer.length; at++) {
    assert.equal(eventsOf([answer.subarray(0, at), answer.subarray(at)]), whole);
  }
  const singly = Array.from({ length: answer.length }, (_, at) => answer.subarray(at, at + 1));
  assert.equal(eventsOf(singly), whole);
});

test('what came from a cache is counted beside the input', () => {
  const last = eventsOf([answer]).match(/event: message_delta\ndata: (.*)\n/)?.[1] ?? '{}';
  const { usage, delta } = JSON.parse(last) as { usage: Record<string, unknown>; delta: object };
  const { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output } = usage;
  assert.deepEqual([input, cached, output], [1, 8, 4]);
  assert.deepEqual(delta, {
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: null,
    container: null,
  });
});
