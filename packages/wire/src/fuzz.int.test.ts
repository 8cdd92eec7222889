import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIopError } from '@iop/domain';
import { decodeMessage, encodeMessage } from './codec.ts';
import { FrameDecoder } from './frame-decoder.ts';
import { createRandom, type Random } from './testing/random.ts';
import { randomMessage } from './testing/random-message.ts';

/** F16. `IOP_FUZZ_CASES=1000000` for the long run. */
const cases = Number(process.env.IOP_FUZZ_CASES ?? 100_000);

function decodeOrRefuse(body: Uint8Array): void {
  try {
    decodeMessage(body);
  } catch (error) {
    assert.ok(isIopError(error) && error.code === 'wire.malformed', String(error));
  }
}

function mutant(seeds: readonly Uint8Array[], random: Random): Uint8Array {
  const bytes = Uint8Array.from(random.pick(seeds));
  if (bytes.length === 0) return bytes;
  for (let left = 1 + random.below(4); left > 0; left--)
    bytes[random.below(bytes.length)] = random.below(256);
  return bytes.subarray(0, random.below(4) === 0 ? random.below(bytes.length) : bytes.length);
}

test(`${cases} random and mutated bodies are decoded or refused as malformed, nothing else (F16)`, () => {
  const random = createRandom(4);
  const seeds = Array.from({ length: 300 }, () => encodeMessage(randomMessage(random)));
  for (let at = 0; at < cases; at++) {
    decodeOrRefuse(at % 4 === 0 ? random.bytes(random.below(40)) : mutant(seeds, random));
  }
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
