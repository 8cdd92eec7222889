import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { decodeMessage, type ReadMessage, type WireMessage } from '../codec.ts';
import { encodeFrame } from '../frame-writer.ts';
import { EnvelopeSchema } from '../gen/iop/wire/v1/envelope_pb.ts';
import type { Random } from './random.ts';

/** What the generated codec makes of a message. */
export function generated(message: WireMessage): Uint8Array {
  return toBinary(EnvelopeSchema, create(EnvelopeSchema, { message }));
}

/** What leaves on a link: by hand where there is a hand codec. */
export function written(message: WireMessage): Uint8Array {
  return encodeFrame(message).subarray(4);
}

/** Both readings of the same bytes, refusals included. */
export function readings(bytes: Uint8Array): { ours: unknown; generated: unknown } {
  const read = (): ReadMessage => fromBinary(EnvelopeSchema, bytes, { readUnknownFields: false }).message;
  return { ours: outcome(() => decodeMessage(bytes)), generated: outcome(read) };
}

/** A few bytes changed, or the end cut off. */
export function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const mutant = Uint8Array.from(bytes);
  for (let left = 1 + random.below(3); left > 0; left--)
    mutant[random.below(mutant.length)] = random.below(256);
  return random.below(3) === 0 ? mutant.subarray(0, random.below(mutant.length + 1)) : mutant;
}

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch {
    return 'refused';
  }
}
