import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChatPiece, ChatReader } from './chat-reader.ts';

const encoder = new TextEncoder();
const event = (answer: unknown): string => `data: ${JSON.stringify(answer)}\n\n`;
const delta = (message: unknown, index = 0): string => event({ choices: [{ index, delta: message }] });

function readAll(text: string, pieceBytes = 1_000_000): ChatPiece[] {
  const reader = new ChatReader();
  const bytes = encoder.encode(text);
  const pieces: ChatPiece[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(...reader.read(bytes.subarray(at, at + pieceBytes)));
  return [...pieces, ...reader.finish()];
}

test('text, reasoning in both spellings and tool calls are told apart', () => {
  const stream = [
    delta({ role: 'assistant', content: '' }),
    delta({ reasoning: 'hm' }),
    delta({ reasoning_content: ' so' }),
    delta({ content: 'Grüße' }),
    delta({ tool_calls: [{ index: 1, id: 'c', function: { name: 'f', arguments: '' } }] }),
    delta({ tool_calls: [{ index: 1, function: { arguments: '{"a":' } }] }),
    'data: [DONE]\n\n',
  ].join('');
  const expected: ChatPiece[] = [
    { kind: 'reasoning', text: 'hm' },
    { kind: 'reasoning', text: ' so' },
    { kind: 'text', text: 'Grüße' },
    { kind: 'tool-call', index: 1, name: 'f', arguments: '' },
    { kind: 'tool-call', index: 1, name: '', arguments: '{"a":' },
  ];
  for (const pieceBytes of [1, 2, 7, 1_000_000]) assert.deepEqual(readAll(stream, pieceBytes), expected);
});

test('an answer that was no stream is read at its end', () => {
  const whole = JSON.stringify({ choices: [{ index: 0, message: { content: 'all' } }] });
  assert.deepEqual(readAll(whole, 5), [{ kind: 'text', text: 'all' }]);
});

test('comments, CRLF line ends and events that are no JSON are passed over', () => {
  const stream = `: hello\r\n\r\n${delta({ content: 'a' }).replaceAll('\n', '\r\n')}data: {broken\r\n\r\n${delta({ content: 'b' })}`;
  for (const pieceBytes of [1, 3, 1_000]) {
    assert.deepEqual(readAll(stream, pieceBytes), [
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'b' },
    ]);
  }
});

test('an error inside the stream is shown', () => {
  assert.deepEqual(readAll(event({ error: { message: 'out of memory' } })), [
    { kind: 'error', message: 'out of memory' },
  ]);
  assert.deepEqual(readAll(event({ error: 'odd' })), [{ kind: 'error', message: 'odd' }]);
});

test('only the first of several choices is shown', () => {
  assert.deepEqual(readAll(delta({ content: 'second' }, 1)), []);
});
