import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameDecoder } from './frame-decoder.ts';
import { decodeOrRefuse, fuzzDecode } from './testing/fuzz-scene.ts';
import { createRandom } from './testing/random.ts';

test('100 000 random and mutated bodies are read or refused as malformed, nothing else (F16)', () => {
  fuzzDecode(100_000);
});

test('deeply nested groups of unknown fields are refused, not a crash', () => {
  decodeOrRefuse(new Uint8Array(1024 * 1024 - 4).fill(0x0b));
  decodeOrRefuse(new Uint8Array(1024 * 1024 - 4).fill(0xfb));
});

test('a random stream of bytes never makes the decoder hold more than a frame (F16)', () => {
  const random = createRandom(5);
  for (let round = 0; round < 2000; round++) {
    const decoder = new FrameDecoder(1000);
    for (let pushes = 0; pushes < 20; pushes++) {
      const piece = random.bytes(1 + random.below(30));
      piece[0] = 0;
      if (decoder.push(piece, decodeOrRefuse) !== undefined) break;
      assert.ok(decoder.heldBytes <= 1004);
    }
  }
});
