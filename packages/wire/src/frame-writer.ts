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
  return writer.take()[0] as Uint8Array;
}

/**
 * Frames one after another into slabs, so that all frames of a tick are one chunk and one write.
 *
 * A slab is used up from its start; what `take` has handed out is never written again. Its size
 * follows the traffic: an idle link holds 1 KiB, a busy one fills 64 KiB at a time.
 */
export class FrameWriter {
  #slab = new Uint8Array(0);
  #start = 0;
  #end = 0;
  #full: Uint8Array[] = [];
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
    const at = this.#reserve(size);
    this.#runEvents.write(value, this.#slab, at);
    return true;
  }

  #appendRunRequest(value: RunRequest): boolean {
    const size = measureRunRequest(value);
    if (size < 0) return false;
    const at = this.#reserve(size);
    writeRunRequest(value, this.#slab, at);
    return true;
  }

  /** Hands over whole frames, in order, as chunks of up to 64 KiB (a larger frame is one chunk). */
  take(): Uint8Array[] {
    this.#close();
    const chunks = this.#full;
    this.#full = [];
    this.#fullBytes = 0;
    return chunks;
  }

  /** As `take`, but stops after the chunk with which `limitBytes` is reached. */
  takeUpTo(limitBytes: number): Uint8Array[] {
    this.#close();
    let count = 0;
    let size = 0;
    while (count < this.#full.length && size < limitBytes) size += (this.#full[count++] as Uint8Array).length;
    this.#fullBytes -= size;
    return this.#full.splice(0, count);
  }

  /** Lets go of a large slab; for the quiet moments of a link. */
  trim(): void {
    if (this.sizeBytes > 0 || this.#slab.length <= smallestSlabBytes) return;
    this.#slab = new Uint8Array(0);
    this.#start = 0;
    this.#end = 0;
    this.#nextSlabBytes = smallestSlabBytes;
  }

  /** Room for a frame, its length already written; where its body goes. */
  #reserve(bodyBytes: number): number {
    if (bodyBytes > maxFrameBytes) throw tooLarge(bodyBytes);
    const size = frameHeaderBytes + bodyBytes;
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
    this.#full.push(this.#slab.subarray(this.#start, this.#end));
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

function tooLarge(sizeBytes: number): IopError {
  return new IopError({
    kind: 'internal',
    code: 'wire.frame-too-large',
    message: `a message of ${sizeBytes} bytes does not fit a frame of ${maxFrameBytes}; split it`,
  });
}
