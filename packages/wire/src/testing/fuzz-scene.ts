import { isIopError } from '@iop/domain';
import { decodeMessage, encodeMessage } from '../codec.ts';
import { createRandom, type Random } from './random.ts';
import { randomMessage } from './random-message.ts';

/** Reads any bytes as the body of a frame; throws for anything but a message or the one refusal. */
export function decodeOrRefuse(body: Uint8Array): void {
  try {
    decodeMessage(body);
  } catch (error) {
    if (!isIopError(error) || error.code !== 'wire.malformed') throw error;
  }
}

function mutant(seeds: readonly Uint8Array[], random: Random): Uint8Array {
  const bytes = Uint8Array.from(random.pick(seeds));
  if (bytes.length === 0) return bytes;
  for (let left = 1 + random.below(4); left > 0; left--)
    bytes[random.below(bytes.length)] = random.below(256);
  return bytes.subarray(0, random.below(4) === 0 ? random.below(bytes.length) : bytes.length);
}

/** F16: random and mutated bodies; throws at the first that is neither read nor refused as malformed. */
export function fuzzDecode(cases: number): void {
  const random = createRandom(4);
  const seeds = Array.from({ length: 300 }, () => encodeMessage(randomMessage(random)));
  for (let at = 0; at < cases; at++) {
    decodeOrRefuse(at % 4 === 0 ? random.bytes(random.below(40)) : mutant(seeds, random));
  }
}
