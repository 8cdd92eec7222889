import { toBinary } from '@bufbuild/protobuf';
import { isAscii } from './ascii-memo.ts';
import { measureEnd, writeEnd } from './end-event-codec.ts';
import { type RawEvent, type RunEvent, RunEventSchema, type RunEvents } from './gen/iop/wire/v1/run_pb.ts';
import {
  isUint32,
  sizeOfBytes,
  sizeOfUint,
  sizeOfVarint,
  writeText,
  writeUint,
  writeVarint,
} from './proto-bytes.ts';

/**
 * Writes the hot message, an Envelope with RunEvents, by hand: raw events and good ends directly, other kinds by
 * the generated codec. The bytes are exactly those of the generated codec (differential fuzz test).
 *
 * Two calls for each message: `measure`, then `write` of the same one.
 */
export class RunEventsWriter {
  /** Of the events of the measured message: size of the RunEvent, and its bytes where the generated codec made them. */
  readonly #sizes: number[] = [];
  readonly #encoded: (Uint8Array | undefined)[] = [];
  #innerBytes = 0;

  /** Bytes of the Envelope, or -1: this message is not for the fast path. */
  measure(value: RunEvents): number {
    if (!isPlain(value) || !isAscii(value.runId)) return -1;
    let size = sizeOfBytes(value.runId.length) + sizeOfUint(value.attempt) + sizeOfUint(value.firstSeq);
    const { events } = value;
    for (let at = 0; at < events.length; at++) {
      this.#measureEvent(events[at] as RunEvent, at);
      const eventBytes = this.#sizes[at] as number;
      size += 1 + sizeOfVarint(eventBytes) + eventBytes;
    }
    this.#innerBytes = size;
    return 2 + sizeOfVarint(size) + size;
  }

  /** At `start`, where there is room for what `measure` said. */
  write(value: RunEvents, target: Uint8Array, start: number): void {
    this.#write(value, target, start);
  }

  /** Of the measured message, if there is nothing else in it: data that is worth writing from where it lies. */
  largeData({ events }: RunEvents): Uint8Array | undefined {
    const kind = events.length === 1 && this.#encoded[0] === undefined ? events[0]?.kind : undefined;
    return kind?.case === 'raw' && kind.value.data.length >= largeBytes ? kind.value.data : undefined;
  }

  /**
   * As `write`, but leaves the data of the one event out, for which `largeData` gave it: there is room for the rest.
   * Returns where the data belongs.
   */
  writeAround(value: RunEvents, target: Uint8Array, start: number): number {
    const end = this.#write(value, target, start, noBytes);
    const { kind } = value.events[0] as RunEvent;
    return kind.case === 'raw' && kind.value.more ? end - moreBytes : end;
  }

  #write(value: RunEvents, target: Uint8Array, start: number, data?: Uint8Array): number {
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
      at = this.#writeEvent(target, at, { event: events[index] as RunEvent, index, data });
    }
    return at;
  }

  #measureEvent(event: RunEvent, index: number): void {
    const size = event.$unknown === undefined ? measureHot(event.kind) : -1;
    const encoded = size < 0 ? toBinary(RunEventSchema, event) : undefined;
    this.#encoded[index] = encoded;
    this.#sizes[index] = encoded?.length ?? size;
  }

  #writeEvent(target: Uint8Array, start: number, { event, index, data }: Writing): number {
    const encoded = this.#encoded[index];
    if (encoded !== undefined) {
      target.set(encoded, start);
      this.#encoded[index] = undefined;
      return start + encoded.length;
    }
    if (event.kind.case === 'end') return writeEnd(target, start, event.kind.value);
    const raw = event.kind.value as RawEvent;
    return writeRaw(target, start, raw, data ?? raw.data);
  }
}

interface Writing {
  event: RunEvent;
  index: number;
  /** Instead of the event's own, which somebody else writes. */
  data: Uint8Array | undefined;
}

const noBytes = new Uint8Array(0);
/** Of the field behind the data. */
const moreBytes = 2;
const largeBytes = 16 * 1024;

function isPlain(value: RunEvents): boolean {
  return isUint32(value.attempt) && isUint32(value.firstSeq) && value.$unknown === undefined;
}

/** Size of the RunEvent, or -1: left to the generated codec. */
function measureHot(kind: RunEvent['kind']): number {
  if (kind.case === 'end') return measureEnd(kind.value);
  const size = kind.case === 'raw' ? measureRaw(kind.value) : -1;
  return size < 0 ? -1 : 1 + sizeOfVarint(size) + size;
}

/** Size of the RawEvent, or -1. */
function measureRaw(raw: RawEvent): number {
  if (raw.$unknown !== undefined || !isAscii(raw.dialect)) return -1;
  return sizeOfBytes(raw.dialect.length) + sizeOfBytes(raw.data.length) + (raw.more ? 2 : 0);
}

function writeRaw(target: Uint8Array, start: number, raw: RawEvent, data: Uint8Array): number {
  const { dialect, more } = raw;
  target[start] = 0x0a;
  let at = writeVarint(target, start + 1, measureRaw(raw));
  if (dialect !== '') at = writeText(target, at, 0x0a, dialect);
  if (raw.data.length > 0) {
    target[at] = 0x12;
    at = writeVarint(target, at + 1, raw.data.length);
    target.set(data, at);
    at += data.length;
  }
  if (more) at = writeUint(target, at, 0x18, 1);
  return at;
}
