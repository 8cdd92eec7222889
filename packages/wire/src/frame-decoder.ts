/**
 * Bytes in, whole frames out. A frame is a 4-byte big-endian length and that many bytes of one Envelope.
 *
 * W1: the length is checked before anything is allocated for it.
 * W2: a frame that lies within one chunk is a view of it; nothing is copied.
 * W3: what is held of an unfinished frame is at most twice what has arrived of it, so a peer that
 *     announces much and sends little costs little.
 * W4: after a violation the decoder takes nothing more.
 */
export const frameHeaderBytes = 4;
export const maxFrameBytes = 1024 * 1024;

export type FrameViolation =
  | { kind: 'empty-frame' }
  | { kind: 'frame-too-large'; sizeBytes: number; limitBytes: number };

const smallestBuffer = 1024;

export class FrameDecoder {
  /** Largest frame taken from now on. */
  limitBytes: number;
  #violation: FrameViolation | undefined;
  /** The unfinished frame, header included: a view of the last chunk until a second chunk comes. */
  #held: Uint8Array | undefined;
  #heldBytes = 0;
  #heldIsView = false;

  constructor(limitBytes: number = maxFrameBytes) {
    this.limitBytes = limitBytes;
  }

  /** Bytes of the frame that is not whole yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Calls `onFrame` for every frame that became whole; the body may be kept (it is a view of `chunk`,
   * so a small one can keep a large chunk alive). `onFrame` may change `limitBytes`.
   */
  push(chunk: Uint8Array, onFrame: (body: Uint8Array) => void): FrameViolation | undefined {
    if (this.#violation !== undefined) return this.#violation;
    let at = this.#heldBytes === 0 ? 0 : this.#continue(chunk, onFrame);
    while (this.#violation === undefined && chunk.length - at >= frameHeaderBytes) {
      const end = at + frameHeaderBytes + this.#sizeAt(chunk, at);
      if (this.#violation !== undefined || end > chunk.length) break;
      const body = chunk.subarray(at + frameHeaderBytes, end);
      at = end;
      onFrame(body);
    }
    if (this.#violation === undefined && at < chunk.length) this.#hold(chunk.subarray(at));
    return this.#violation;
  }

  /** Completes the held frame from `chunk` as far as it goes; how many bytes it took. */
  #continue(chunk: Uint8Array, onFrame: (body: Uint8Array) => void): number {
    let at = 0;
    if (this.#heldBytes < frameHeaderBytes) {
      at = Math.min(frameHeaderBytes - this.#heldBytes, chunk.length);
      this.#append(chunk.subarray(0, at), frameHeaderBytes);
      if (this.#heldBytes < frameHeaderBytes) return at;
    }
    const held = this.#held as Uint8Array;
    const total = frameHeaderBytes + this.#sizeAt(held, 0);
    if (this.#violation !== undefined) return at;
    const taken = Math.min(total - this.#heldBytes, chunk.length - at);
    this.#append(chunk.subarray(at, at + taken), total);
    if (this.#heldBytes < total) return at + taken;
    const body = (this.#held as Uint8Array).subarray(frameHeaderBytes, total);
    this.#held = undefined;
    this.#heldBytes = 0;
    onFrame(body);
    return at + taken;
  }

  #hold(rest: Uint8Array): void {
    this.#held = rest;
    this.#heldBytes = rest.length;
    this.#heldIsView = true;
  }

  #append(bytes: Uint8Array, totalBytes: number): void {
    const size = this.#heldBytes + bytes.length;
    let held = this.#held as Uint8Array;
    if (this.#heldIsView || held.length < size) {
      const grown = new Uint8Array(
        Math.max(size, Math.min(totalBytes, Math.max(2 * this.#heldBytes, smallestBuffer))),
      );
      grown.set(held.subarray(0, this.#heldBytes));
      held = grown;
      this.#held = grown;
      this.#heldIsView = false;
    }
    held.set(bytes, this.#heldBytes);
    this.#heldBytes = size;
  }

  #sizeAt(bytes: Uint8Array, at: number): number {
    const size =
      (bytes[at] as number) * 0x1000000 +
      (((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number));
    if (size === 0) this.#violation = { kind: 'empty-frame' };
    else if (size > this.limitBytes) {
      this.#violation = { kind: 'frame-too-large', sizeBytes: size, limitBytes: this.limitBytes };
    }
    return size;
  }
}
