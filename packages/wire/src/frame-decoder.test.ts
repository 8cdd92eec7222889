import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameDecoder, type FrameViolation, maxFrameBytes } from './frame-decoder.ts';

function frame(body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4 + body.length);
  new DataView(bytes.buffer).setUint32(0, body.length);
  bytes.set(body, 4);
  return bytes;
}

function header(sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, sizeBytes);
  return bytes;
}

const bodies = [1, 2, 3, 250, 4, 5000, 1].map((size, at) => new Uint8Array(size).fill(at + 1));
const stream = Buffer.concat(bodies.map(frame));

function readInPieces(decoder: FrameDecoder, pieces: readonly Uint8Array[]): Uint8Array[] {
  const read: Uint8Array[] = [];
  for (const piece of pieces)
    assert.equal(
      decoder.push(piece, (body) => read.push(body)),
      undefined,
    );
  return read;
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

test('frames come out the same wherever the stream is cut in two', () => {
  for (let at = 0; at <= stream.length; at++) {
    const read = readInPieces(new FrameDecoder(), [stream.subarray(0, at), stream.subarray(at)]);
    assert.deepEqual(read.map(Buffer.from), bodies.map(Buffer.from), `cut at ${at}`);
  }
});

test('frames come out the same whatever the size of the pieces', () => {
  for (const size of [1, 2, 3, 4, 5, 7, 64, 1000, 4096]) {
    const read = readInPieces(new FrameDecoder(), cut(stream, size));
    assert.deepEqual(read.map(Buffer.from), bodies.map(Buffer.from), `pieces of ${size}`);
  }
});

test('a frame within one chunk is a view of it (W2)', () => {
  const [body] = readInPieces(new FrameDecoder(), [stream]);
  assert.equal(body?.buffer, stream.buffer);
});

test('a frame that straddled chunks is not a view of them', () => {
  const chunk = frame(new Uint8Array(100).fill(7));
  const [body] = readInPieces(new FrameDecoder(), [chunk.subarray(0, 50), chunk.subarray(50)]);
  chunk.fill(0);
  assert.equal(body?.[99], 7);
});

const refusals: [number, FrameViolation][] = [
  [0, { kind: 'empty-frame' }],
  [maxFrameBytes + 1, { kind: 'frame-too-large', sizeBytes: maxFrameBytes + 1, limitBytes: maxFrameBytes }],
  [0x7fffffff, { kind: 'frame-too-large', sizeBytes: 0x7fffffff, limitBytes: maxFrameBytes }],
  [0xffffffff, { kind: 'frame-too-large', sizeBytes: 0xffffffff, limitBytes: maxFrameBytes }],
];

for (const [sizeBytes, expected] of refusals) {
  test(`a length of ${sizeBytes} is refused, at once or in pieces, and nothing more is taken (W1, W4)`, () => {
    for (const pieces of [[header(sizeBytes)], cut(header(sizeBytes), 1)]) {
      const decoder = new FrameDecoder();
      const outcomes = pieces.map((piece) => decoder.push(piece, () => assert.fail('no frame')));
      assert.deepEqual(outcomes.at(-1), expected);
      assert.deepEqual(
        decoder.push(stream, () => assert.fail('no frame')),
        expected,
      );
    }
  });
}

test('frames before a bad length are still delivered', () => {
  const read: Uint8Array[] = [];
  const bytes = Buffer.concat([frame(Uint8Array.of(9)), header(0)]);
  assert.deepEqual(
    new FrameDecoder().push(bytes, (body) => read.push(body)),
    { kind: 'empty-frame' },
  );
  assert.equal(read.length, 1);
});

test('the limit can change between two frames of one chunk', () => {
  const decoder = new FrameDecoder(16);
  const bytes = Buffer.concat([frame(new Uint8Array(16)), frame(new Uint8Array(500))]);
  const sizes: number[] = [];
  const violation = decoder.push(bytes, (body) => {
    sizes.push(body.length);
    decoder.limitBytes = 1000;
  });
  assert.equal(violation, undefined);
  assert.deepEqual(sizes, [16, 500]);
});

test('a peer that announces much and sends little costs little (W3)', () => {
  const before = process.memoryUsage().arrayBuffers;
  const decoders = Array.from({ length: 200 }, () => new FrameDecoder());
  for (const decoder of decoders) {
    decoder.push(header(maxFrameBytes), () => {});
    decoder.push(new Uint8Array(10), () => {});
  }
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(grown < 2 * 1024 * 1024, `200 decoders hold ${grown} bytes`);
  assert.equal(decoders[0]?.heldBytes, 14);
});
