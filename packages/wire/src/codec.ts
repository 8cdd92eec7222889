import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { IopError } from '@iop/domain';
import { type Envelope, EnvelopeSchema } from './gen/iop/wire/v1/envelope_pb.ts';
import { readRunEvents } from './run-events-reader.ts';
import { readRunRequest } from './run-request-codec.ts';

/** Any message of the protocol as `{ case, value }`. */
export type WireMessage = Exclude<Envelope['message'], { case: undefined }>;

/** What was read; `case` is undefined for a message that this version does not know. */
export type ReadMessage = Envelope['message'];

/** Unknown fields are ignored (DESIGN §4), so they are not kept either. */
const readOptions = { readUnknownFields: false } as const;

/** The bytes of an Envelope, without the frame's length. */
export function encodeMessage(message: WireMessage): Uint8Array {
  return toBinary(EnvelopeSchema, { $typeName: 'iop.wire.v1.Envelope', message });
}

/**
 * The message in the body of a frame. Bytes fields are views of `body`.
 * @throws IopError `invalid`, code `wire.malformed`, for bytes that are no Envelope
 */
export function decodeMessage(body: Uint8Array): ReadMessage {
  try {
    const events = readRunEvents(body);
    if (events !== undefined) return { case: 'runEvents', value: events };
    const request = readRunRequest(body);
    if (request !== undefined) return { case: 'runRequest', value: request };
    return fromBinary(EnvelopeSchema, body, readOptions).message;
  } catch (cause) {
    throw new IopError({
      kind: 'invalid',
      code: 'wire.malformed',
      message: `a frame of ${body.length} bytes is no message of the IOP Wire Protocol`,
      cause,
    });
  }
}
