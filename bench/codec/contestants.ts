import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { decodeMessage, EnvelopeSchema, FrameWriter, type RunEvents } from '@iop/wire';
import protobufjs from 'protobufjs';

/** One way to put a message on the wire and to read it again. */
export interface Contestant {
  name: string;
  /** The bytes of the message; only valid until the next call. */
  encode(): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

/** In this order: ours, the generated codec, protobufjs with code made at load time, JSON with base64 bytes. */
export function createContestants(message: RunEvents): Contestant[] {
  return [byHand(message), protobufEs(message), viaProtobufjs(message), viaJson(message)];
}

function byHand(value: RunEvents): Contestant {
  const writer = new FrameWriter();
  const message = { case: 'runEvents', value } as const;
  return {
    name: 'hand',
    encode() {
      writer.append(message);
      return (writer.take()[0] as Uint8Array).subarray(4);
    },
    decode: decodeMessage,
  };
}

function protobufEs(value: RunEvents): Contestant {
  const envelope = {
    $typeName: 'iop.wire.v1.Envelope' as const,
    message: { case: 'runEvents' as const, value },
  };
  return {
    name: 'protobuf-es',
    encode: () => toBinary(EnvelopeSchema, envelope),
    decode: (bytes) => fromBinary(EnvelopeSchema, bytes, { readUnknownFields: false }),
  };
}

function viaProtobufjs(value: RunEvents): Contestant {
  const root = new protobufjs.Root();
  root.resolvePath = (_origin, target) =>
    new URL(`../../packages/wire/proto/${target}`, import.meta.url).pathname;
  const type = root.loadSync('iop/wire/v1/envelope.proto').lookupType('iop.wire.v1.Envelope');
  const message = type.fromObject({ runEvents: plain(value) });
  return {
    name: 'protobufjs',
    encode: () => type.encode(message).finish(),
    decode: (bytes) => type.decode(bytes),
  };
}

function viaJson(value: RunEvents): Contestant {
  return {
    name: 'JSON',
    encode: () => Buffer.from(JSON.stringify(withText(value))),
    decode: (bytes) => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()),
  };
}

function plain({ runId, attempt, firstSeq, events }: RunEvents) {
  return { runId, attempt, firstSeq, events: events.map(({ kind }) => ({ raw: rawOf(kind) })) };
}

/** JSON has no bytes: they are text, as they are in every server-sent event. */
function withText(value: RunEvents) {
  const { runId, attempt, firstSeq, events } = value;
  const texts = events.map(({ kind }) => {
    const { dialect, data } = rawOf(kind);
    return { dialect, data: Buffer.from(data.buffer, data.byteOffset, data.length).toString() };
  });
  return { runId, attempt, firstSeq, events: texts };
}

function rawOf(kind: RunEvents['events'][number]['kind']) {
  if (kind.case !== 'raw') throw new TypeError('the codec is measured with raw events');
  return kind.value;
}
