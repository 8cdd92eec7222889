import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameChunk, joinPieces } from './chunk-framing.ts';

test('pieces become one chunk of HTTP/1.1, byte for byte', () => {
  const pieces = [Buffer.from('data: ü'), new Uint8Array([0, 255, 13, 10]), Buffer.from('\n\n')];
  const frame = frameChunk(pieces);
  assert.ok(frame);
  const expected = Buffer.concat([Buffer.from('e\r\n'), ...pieces, Buffer.from('\r\n')]);
  assert.deepEqual(Buffer.from(frame), expected);
});

test('nothing is no chunk, because an empty one would end the answer', () => {
  assert.equal(frameChunk([]), undefined);
  assert.equal(frameChunk([Buffer.alloc(0)]), undefined);
});

test('large pieces are not copied into a frame', () => {
  assert.equal(frameChunk([Buffer.alloc(65_537)]), undefined);
  assert.equal(frameChunk([Buffer.alloc(65_536)])?.length, 65_536 + '10000\r\n'.length + 2);
});

test('a single piece is joined without a copy', () => {
  const piece = Buffer.from('x');
  assert.equal(joinPieces([piece]), piece);
});
