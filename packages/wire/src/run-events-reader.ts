import { fromBinary } from '@bufbuild/protobuf';
import { readAscii } from './ascii-memo.ts';
import { type RunEvent, RunEventSchema, type RunEvents } from './gen/iop/wire/v1/run_pb.ts';

const nothing = new Uint8Array(0);

/**
 * Reads the one hot message, an Envelope with RunEvents, by hand, in the form in which every encoder writes it: each
 * field at most once, in order. Anything else is undefined and left to the generated codec, which
 * also reads every event that is not raw. The result equals that of the generated codec (differential
 * fuzz test).
 */
export function readRunEvents(body: Uint8Array): RunEvents | undefined {
  if (body[0] !== 0x82 || body[1] !== 0x01) return undefined;
  const cursor = new Cursor(body, 2, body.length);
  if (cursor.length() !== cursor.end) return undefined;
  const runId = cursor.tagged(0x0a) ? cursor.ascii() : '';
  const attempt = cursor.tagged(0x10) ? cursor.varint() : 0;
  const firstSeq = cursor.tagged(0x18) ? cursor.varint() : 0;
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
function readEvent(cursor: Cursor, end: number): RunEvent | undefined {
  if (cursor.broken) return undefined;
  const { bytes, at } = cursor;
  if (bytes[at] === 0x0a && at < end) return readRaw(cursor, end);
  cursor.at = end;
  return fromBinary(RunEventSchema, bytes.subarray(at, end), { readUnknownFields: false });
}

function readRaw(cursor: Cursor, end: number): RunEvent | undefined {
  cursor.at++;
  const outer = cursor.end;
  if (cursor.length() !== end) return undefined;
  cursor.end = end;
  const dialect = cursor.tagged(0x0a) ? cursor.ascii() : '';
  const data = cursor.tagged(0x12) ? cursor.view() : nothing;
  const more = cursor.tagged(0x18) ? cursor.varint() !== 0 : false;
  if (cursor.broken || cursor.at !== end) return undefined;
  cursor.end = outer;
  const value = { $typeName: 'iop.wire.v1.RawEvent', dialect, data, more } as const;
  return { $typeName: 'iop.wire.v1.RunEvent', kind: { case: 'raw', value } };
}

/** A place in the bytes. After something unexpected it is `broken`, and what it gives is meaningless. */
class Cursor {
  readonly bytes: Uint8Array;
  at: number;
  end: number;
  broken = false;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  /** Steps over the tag if it is the next byte. */
  tagged(tag: number): boolean {
    if (this.broken || this.at >= this.end || this.bytes[this.at] !== tag) return false;
    this.at++;
    return true;
  }

  /** Of 32 bits; a longer one is broken here. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35 && this.at < this.end; shift += 7) {
      const byte = this.bytes[this.at++] as number;
      if (shift === 28 && byte > 0x0f) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    this.broken = true;
    return 0;
  }

  /** Reads a length and gives where what it announces ends. */
  length(): number {
    const size = this.varint();
    const end = this.at + size;
    if (end > this.end) this.broken = true;
    return this.broken ? -1 : end;
  }

  ascii(): string {
    const end = this.length();
    const text = this.broken ? undefined : readAscii(this.bytes, this.at, end);
    if (text === undefined) this.broken = true;
    this.at = end;
    return text ?? '';
  }

  view(): Uint8Array {
    const end = this.length();
    if (this.broken) return nothing;
    const view = this.bytes.subarray(this.at, end);
    this.at = end;
    return view;
  }
}
