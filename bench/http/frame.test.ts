import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFrame, FrameReader, frameSizeBytes } from './frame.ts';

const frames = [0, 1, 2].map((index) => encodeFrame({ index, stampUs: 1e9 + index, heldUs: 5000 }));
const stream = `: hello\n\n${frames.join('')}data: {"choices":[]}\n\ndata: [DONE]\n\n`;

test('frames are read once each, in order, wherever the bytes are cut', () => {
  for (let size = 1; size <= stream.length; size++) {
    const { reader, stamps } = readPieces(stream, size);
    assert.deepEqual(stamps, [1e9, 1e9 + 1, 1e9 + 2], `pieces of ${size}`);
    assert.deepEqual({ done: reader.done, problem: reader.problem }, { done: true, problem: undefined });
  }
});

test('a frame is valid JSON and has one size whatever its numbers', () => {
  const text = encodeFrame({ index: 123, stampUs: 123_456_789_012, heldUs: 1 });
  assert.equal(text.length, frameSizeBytes);
  assert.equal(JSON.parse(text.slice(6)).choices[0].delta.content, '~000123~000123456789012~000000001~');
});

test('a missing, doubled or swapped frame and an error event are problems', () => {
  for (const order of [
    [0, 2],
    [0, 0],
    [1, 0],
  ]) {
    const text = order.map((at) => frames[at]).join('');
    assert.match(readPieces(text, text.length).reader.problem ?? '', /frame \d came where \d was due/);
  }
  assert.match(readPieces('data: {"error":{"code":"x"}}\n\n', 7).reader.problem ?? '', /error event/);
});

function readPieces(text: string, size: number): { reader: FrameReader; stamps: number[] } {
  const stamps: number[] = [];
  const reader = new FrameReader((stampUs) => stamps.push(stampUs));
  for (let at = 0; at < text.length; at += size) reader.push(Buffer.from(text.slice(at, at + size)));
  return { reader, stamps };
}
