import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { create, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { decodeMessage, encodeMessage, type WireMessage } from './codec.ts';
import { encodeFrame } from './frame-writer.ts';
import { EnvelopeSchema } from './gen/iop/wire/v1/envelope_pb.ts';

/**
 * Golden bytes: what another implementation must read and write. `frame` is a whole frame, length
 * included. A vector is never changed, only added: IOP_WRITE_VECTORS=1 fills in the frames of new ones.
 */
interface Vector {
  name: string;
  envelope: JsonValue;
  frame: string;
}

const file = new URL('../vectors/v1.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[];

function toMessage(vector: Vector): WireMessage {
  return fromJson(EnvelopeSchema, vector.envelope).message as WireMessage;
}

if (process.env.IOP_WRITE_VECTORS === '1') {
  for (const vector of vectors) vector.frame ||= Buffer.from(encodeFrame(toMessage(vector))).toString('hex');
  writeFileSync(file, `${JSON.stringify(vectors, null, 2)}\n`);
}

for (const vector of vectors) {
  test(`golden bytes: ${vector.name}`, () => {
    const frame = Buffer.from(vector.frame, 'hex');
    assert.equal(frame.readUInt32BE(0), frame.length - 4);
    const message = decodeMessage(frame.subarray(4)) as WireMessage;
    assert.deepEqual(toJson(EnvelopeSchema, create(EnvelopeSchema, { message })), vector.envelope);
    assert.equal(Buffer.from(encodeFrame(toMessage(vector))).toString('hex'), vector.frame);
    assert.deepEqual(Buffer.from(encodeMessage(message)), frame.subarray(4));
    assert.deepEqual(
      Buffer.from(toBinary(EnvelopeSchema, create(EnvelopeSchema, { message }))),
      frame.subarray(4),
    );
  });
}

test('every message of the protocol has a vector', () => {
  const covered = new Set(vectors.map((vector) => Object.keys(vector.envelope as object)[0]));
  const missing = EnvelopeSchema.fields.map((field) => field.jsonName).filter((name) => !covered.has(name));
  assert.deepEqual(missing, []);
});
