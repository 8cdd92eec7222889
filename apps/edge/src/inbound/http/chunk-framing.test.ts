import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameChunk, joinPieces } from './chunk-framing.ts';

test('pieces become one chunk of HTTP/1.1 in one buffer, byte for byte', () => {
  const pieces = [Buffer.from('data: ü'), new Uint8Array([0, 255, 13, 10]), Buffer.from('\n\n')];
  const frame = frameChunk(pieces);
  const expected = Buffer.concat([Buffer.from('e\r\n'), ...pieces, Buffer.from('\r\n')]);
  assert.equal(frame?.length, 1);
  assert.deepEqual(Buffer.from(frame[0] as Uint8Array), expected);
});

test('nothing is no chunk, because an empty one would end the answer', () => {
  assert.equal(frameChunk([]), undefined);
  assert.equal(frameChunk([Buffer.alloc(0)]), undefined);
});

test('large pieces are one chunk too, and are not copied', () => {
  const pieces = [Buffer.alloc(16_384, 1), Buffer.alloc(1, 2)];
  const frame = frameChunk(pieces) ?? [];
  assert.deepEqual(frame.slice(1, -1), pieces);
  assert.equal(frame[1], pieces[0]);
  const expected = Buffer.concat([Buffer.from('4001\r\n'), ...pieces, Buffer.from('\r\n')]);
  assert.deepEqual(Buffer.concat(frame), expected);
});

test('a single piece is joined without a copy', () => {
  const piece = Buffer.from('x');
  assert.equal(joinPieces([piece]), piece);
});
