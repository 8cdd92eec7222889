import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventNumbers } from './event-numbers.ts';

function numbered(pieces: readonly string[], afterNumber = 0): string {
  const numbers = new EventNumbers(afterNumber);
  const shown: Uint8Array[] = [];
  for (const piece of pieces) numbers.number(Buffer.from(piece), (bytes) => shown.push(bytes));
  return Buffer.concat(shown).toString();
}

test('every event has a number, however many come in one piece', () => {
  const stream = 'id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: c\n\n';
  assert.equal(numbered(['data: a\n\n', 'data: b\n\ndata: c\n\n']), stream);
  assert.equal(numbered(['data: a\n\ndata: b\n\n', 'data: c\n\n']), stream);
});

test('lines may end as the standard lets them', () => {
  assert.equal(numbered(['data: a\r\n\r\ndata: b\r\n\r\n']), 'id: 1\ndata: a\r\n\r\nid: 2\ndata: b\r\n\r\n');
  assert.equal(numbered(['event: x\ndata: a\ndata: b\n\n']), 'id: 1\nevent: x\ndata: a\ndata: b\n\n');
});

test('what the caller has is left out, and the numbers stay', () => {
  const pieces = ['data: a\n\ndata: b\n\n', 'data: c\n\n'];
  assert.equal(numbered(pieces, 1), 'id: 2\ndata: b\n\nid: 3\ndata: c\n\n');
  assert.equal(numbered(pieces, 3), '');
});
