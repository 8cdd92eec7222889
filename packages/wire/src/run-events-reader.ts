import { fromBinary } from '@bufbuild/protobuf';
import { readEnd } from './end-event-codec.ts';
import { type RunEvent, RunEventSchema, type RunEvents } from './gen/iop/wire/v1/run_pb.ts';
import { ProtoCursor } from './proto-cursor.ts';

/**
 * Reads the one hot message, an Envelope with RunEvents, by hand, in the form in which every encoder writes it: each
 * field at most once, in order. Anything else is undefined and left to the generated codec, which
 * also reads every event that is not raw. The result equals that of the generated codec (differential
 * fuzz test).
 */
export function readRunEvents(body: Uint8Array): RunEvents | undefined {
  if (body[0] !== 0x82 || body[1] !== 0x01) return undefined;
  const cursor = new ProtoCursor(body, 2, body.length);
  if (cursor.length() !== cursor.end) return undefined;
  const runId = cursor.textField(0x0a);
  const attempt = cursor.uintField(0x10);
  const firstSeq = cursor.uintField(0x18);
  const events: RunEvent[] = [];
  while (cursor.tagged(0x22)) {
    const event = readEvent(cursor, cursor.length());
    if (event === undefined) return undefined;
    events.push(event);
  }
  if (cursor.broken || cursor.at !== cursor.end) return undefined;
  return { $typeName: 'iop.wire.v1.RunEvents', runId, attempt, firstSeq, events };
}

/** One RunEvent up to `end`; the cursor stands behind it. */
function readEvent(cursor: ProtoCursor, end: number): RunEvent | undefined {
  if (cursor.broken) return undefined;
  const { bytes, at } = cursor;
  if (bytes[at] === 0x0a && at < end) return readRaw(cursor, end);
  if (bytes[at] === 0x72 && at < end) return readEnd(cursor, end);
  cursor.at = end;
  return fromBinary(RunEventSchema, bytes.subarray(at, end), { readUnknownFields: false });
}

function readRaw(cursor: ProtoCursor, end: number): RunEvent | undefined {
  cursor.at++;
  const outer = cursor.end;
  if (cursor.length() !== end) return undefined;
  cursor.end = end;
  const dialect = cursor.textField(0x0a);
  const data = cursor.bytesField(0x12);
  const more = cursor.boolField(0x18);
  if (cursor.broken || cursor.at !== end) return undefined;
  cursor.end = outer;
  const value = { $typeName: 'iop.wire.v1.RawEvent', dialect, data, more } as const;
  return { $typeName: 'iop.wire.v1.RunEvent', kind: { case: 'raw', value } };
}
