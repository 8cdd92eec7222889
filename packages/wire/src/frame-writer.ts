import { IopError } from '@iop/domain';
import { encodeMessage, type WireMessage } from './codec.ts';
import { frameHeaderBytes, maxFrameBytes } from './frame-decoder.ts';
import type { RunEvents, RunRequest } from './gen/iop/wire/v1/run_pb.ts';
import { RunEventsWriter } from './run-events-writer.ts';
import { measureRunRequest, writeRunRequest } from './run-request-codec.ts';

const smallestSlabBytes = 1024;
const largestSlabBytes = 64 * 1024;

/** One frame in a buffer of its own. */
export function encodeFrame(message: WireMessage): Uint8Array {
  const writer = new FrameWriter();
  writer.append(message);
  const [first, ...rest] = writer.take() as [Uint8Array, ...Uint8Array[]];
  return rest.length === 0 ? first : join([first, ...rest]);
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(sizeOf(chunks));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/**
 * Frames one after another into slabs, so that all frames of a tick are one chunk and one write.
 *
 * A slab is used up from its start; what `take` has handed out is never written again. Its size
 * follows the traffic: an idle link holds 1 KiB, a busy one fills 64 KiB at a time. The data of a large event
 * is not copied into it: it must not change until it was taken and sent.
 */
export class FrameWriter {
  #slab = new Uint8Array(0);
  #start = 0;
  #end = 0;
  /** Chunks that hold whole frames together. */
  #full: Uint8Array[][] = [];
  #fullBytes = 0;
  #nextSlabBytes = smallestSlabBytes;
  readonly #runEvents = new RunEventsWriter();

  /** Bytes of frames that were not taken yet. */
  get sizeBytes(): number {
    return this.#fullBytes + this.#end - this.#start;
  }

  append(message: WireMessage): void {
    if (message.case === 'runEvents' && this.#appendRunEvents(message.value)) return;
    if (message.case === 'runRequest' && this.#appendRunRequest(message.value)) return;
    const body = encodeMessage(message);
    const at = this.#reserve(body.length);
    this.#slab.set(body, at);
  }

  #appendRunEvents(value: RunEvents): boolean {
    const size = this.#runEvents.measure(value);
    if (size < 0) return false;
    const data = this.#runEvents.largeData(value);
    if (data !== undefined) {
      this.#appendAround(value, size, data);
      return true;
    }
    const at = this.#reserve(size);
    this.#runEvents.write(value, this.#slab, at);
    return true;
  }

  #appendAround(value: RunEvents, size: number, data: Uint8Array): void {
    const at = this.#reserve(size, size - data.length);
    const gap = this.#runEvents.writeAround(value, this.#slab, at);
    const chunks = [this.#slab.subarray(this.#start, gap), data];
    if (gap < this.#end) chunks.push(this.#slab.subarray(gap, this.#end));
    this.#full.push(chunks);
    this.#fullBytes += this.#end - this.#start + data.length;
    this.#start = this.#end;
  }

  #appendRunRequest(value: RunRequest): boolean {
    const size = measureRunRequest(value);
    if (size < 0) return false;
    const at = this.#reserve(size);
    writeRunRequest(value, this.#slab, at);
    return true;
  }

  /** Hands over whole frames, in order, as chunks of up to 64 KiB (a larger frame is one chunk, or its data is). */
  take(): Uint8Array[] {
    this.#close();
    const chunks = this.#full;
    this.#full = [];
    this.#fullBytes = 0;
    return chunks.length === 1 ? (chunks[0] as Uint8Array[]) : chunks.flat();
  }

  /** As `take`, but stops after the frame with which `limitBytes` is reached. */
  takeUpTo(limitBytes: number): Uint8Array[] {
    this.#close();
    let count = 0;
    let size = 0;
    while (count < this.#full.length && size < limitBytes)
      size += sizeOf(this.#full[count++] as Uint8Array[]);
    this.#fullBytes -= size;
    return this.#full.splice(0, count).flat();
  }

  /** Lets go of a large slab; for the quiet moments of a link. */
  trim(): void {
    if (this.sizeBytes > 0 || this.#slab.length <= smallestSlabBytes) return;
    this.#slab = new Uint8Array(0);
    this.#start = 0;
    this.#end = 0;
    this.#nextSlabBytes = smallestSlabBytes;
  }

  /** Room for a frame or the part of it that is copied, its length already written; where its body goes. */
  #reserve(bodyBytes: number, copiedBytes = bodyBytes): number {
    if (bodyBytes > maxFrameBytes) throw tooLarge(bodyBytes);
    const size = frameHeaderBytes + copiedBytes;
    if (this.#slab.length - this.#end < size) this.#grow(size);
    const at = this.#end;
    const slab = this.#slab;
    slab[at] = bodyBytes >>> 24;
    slab[at + 1] = bodyBytes >>> 16;
    slab[at + 2] = bodyBytes >>> 8;
    slab[at + 3] = bodyBytes;
    this.#end = at + size;
    return at + frameHeaderBytes;
  }

  #close(): void {
    if (this.#end === this.#start) return;
    this.#full.push([this.#slab.subarray(this.#start, this.#end)]);
    this.#fullBytes += this.#end - this.#start;
    this.#start = this.#end;
  }

  #grow(frameBytes: number): void {
    this.#close();
    this.#slab = new Uint8Array(Math.max(this.#nextSlabBytes, frameBytes));
    this.#start = 0;
    this.#end = 0;
    this.#nextSlabBytes = Math.min(2 * this.#nextSlabBytes, largestSlabBytes);
  }
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((size, chunk) => size + chunk.length, 0);
}

function tooLarge(sizeBytes: number): IopError {
  return new IopError({
    kind: 'internal',
    code: 'wire.frame-too-large',
    message: `a message of ${sizeBytes} bytes does not fit a frame of ${maxFrameBytes}; split it`,
  });
}
