import { toBinary } from '@bufbuild/protobuf';
import { isAscii } from './ascii-memo.ts';
import { type RawEvent, type RunEvent, RunEventSchema, type RunEvents } from './gen/iop/wire/v1/run_pb.ts';

/**
 * Writes the one hot message, an Envelope with RunEvents, by hand: raw events directly, other kinds by the
 * generated codec. The bytes are exactly those of the generated codec (differential fuzz test).
 *
 * Two calls for each message: `measure`, then `write` of the same one.
 */
export class RunEventsWriter {
  /** Of the events of the measured message: size of the RunEvent, and its bytes unless it is raw. */
  readonly #sizes: number[] = [];
  readonly #encoded: (Uint8Array | undefined)[] = [];
  #innerBytes = 0;

  /** Bytes of the Envelope, or -1: this message is not for the fast path. */
  measure(value: RunEvents): number {
    if (!isPlain(value) || !isAscii(value.runId)) return -1;
    let size = sizeOfBytes(value.runId.length) + sizeOfUint(value.attempt) + sizeOfUint(value.firstSeq);
    const { events } = value;
    for (let at = 0; at < events.length; at++) {
      const eventBytes = this.#measureEvent(events[at] as RunEvent, at);
      if (eventBytes < 0) return -1;
      size += 1 + sizeOfVarint(eventBytes) + eventBytes;
    }
    this.#innerBytes = size;
    return 2 + sizeOfVarint(size) + size;
  }

  /** At `start`, where there is room for what `measure` said. */
  write(value: RunEvents, target: Uint8Array, start: number): void {
    target[start] = 0x82; // field 16, length-delimited
    target[start + 1] = 0x01;
    let at = writeVarint(target, start + 2, this.#innerBytes);
    if (value.runId !== '') at = writeText(target, at, 0x0a, value.runId);
    if (value.attempt !== 0) at = writeUint(target, at, 0x10, value.attempt);
    if (value.firstSeq !== 0) at = writeUint(target, at, 0x18, value.firstSeq);
    const { events } = value;
    for (let index = 0; index < events.length; index++) {
      target[at] = 0x22;
      at = writeVarint(target, at + 1, this.#sizes[index] as number);
      at = this.#writeEvent(target, at, events[index] as RunEvent, index);
    }
  }

  #measureEvent(event: RunEvent, index: number): number {
    if (event.kind.case === 'raw' && event.$unknown === undefined) {
      const size = measureRaw(event.kind.value);
      if (size < 0) return -1;
      this.#encoded[index] = undefined;
      this.#sizes[index] = 1 + sizeOfVarint(size) + size;
    } else {
      const encoded = toBinary(RunEventSchema, event);
      this.#encoded[index] = encoded;
      this.#sizes[index] = encoded.length;
    }
    return this.#sizes[index] as number;
  }

  #writeEvent(target: Uint8Array, start: number, event: RunEvent, index: number): number {
    const encoded = this.#encoded[index];
    if (encoded !== undefined) {
      target.set(encoded, start);
      this.#encoded[index] = undefined;
      return start + encoded.length;
    }
    return writeRaw(target, start, event.kind.value as RawEvent);
  }
}

function isPlain(value: RunEvents): boolean {
  return isUint32(value.attempt) && isUint32(value.firstSeq) && value.$unknown === undefined;
}

function isUint32(value: number): boolean {
  return value >>> 0 === value;
}

/** Size of the RawEvent, or -1. */
function measureRaw(raw: RawEvent): number {
  if (raw.$unknown !== undefined || !isAscii(raw.dialect)) return -1;
  return sizeOfBytes(raw.dialect.length) + sizeOfBytes(raw.data.length) + (raw.more ? 2 : 0);
}

function writeRaw(target: Uint8Array, start: number, raw: RawEvent): number {
  const { dialect, data, more } = raw;
  target[start] = 0x0a;
  let at = writeVarint(target, start + 1, measureRaw(raw));
  if (dialect !== '') at = writeText(target, at, 0x0a, dialect);
  if (data.length > 0) {
    target[at] = 0x12;
    at = writeVarint(target, at + 1, data.length);
    target.set(data, at);
    at += data.length;
  }
  if (more) at = writeUint(target, at, 0x18, 1);
  return at;
}

/** Of a field with a one-byte tag; empty ones are left out. */
function sizeOfBytes(length: number): number {
  return length === 0 ? 0 : 1 + sizeOfVarint(length) + length;
}

function sizeOfUint(value: number): number {
  return value === 0 ? 0 : 1 + sizeOfVarint(value);
}

function sizeOfVarint(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}

function writeText(target: Uint8Array, start: number, tag: number, text: string): number {
  target[start] = tag;
  const at = writeVarint(target, start + 1, text.length);
  for (let index = 0; index < text.length; index++) target[at + index] = text.charCodeAt(index);
  return at + text.length;
}

function writeUint(target: Uint8Array, start: number, tag: number, value: number): number {
  target[start] = tag;
  return writeVarint(target, start + 1, value);
}

function writeVarint(target: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 0x7f) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}
