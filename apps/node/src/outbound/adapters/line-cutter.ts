const LF = 0x0a;

/** Takes whole lines, without what ends them. */
export type LineTaker = (bytes: Uint8Array, start: number, end: number) => void;

/**
 * Finds where lines end, in chunks that were cut anywhere; a line that lies in one chunk is not copied.
 *
 * C1: the lines handed on and the rest, in order, are the stream without loss.
 * C2: what waits for its end is at most `maxLineBytes`; `push` answers false beyond it.
 */
export class LineCutter {
  readonly #take: LineTaker;
  readonly #maxLineBytes: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(take: LineTaker, maxLineBytes: number) {
    this.#take = take;
    this.#maxLineBytes = maxLineBytes;
  }

  /** False: one line is longer than allowed; nothing may be pushed any more. */
  push(chunk: Uint8Array): boolean {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (this.#heldBytes + end - start > this.#maxLineBytes) return false;
      this.#hand(chunk, start, end);
      start = end + 1;
    }
    if (start < chunk.length) {
      this.#held.push(chunk.subarray(start));
      this.#heldBytes += chunk.length - start;
    }
    return this.#heldBytes <= this.#maxLineBytes;
  }

  /** What came after the last whole line. */
  rest(): Uint8Array {
    return Buffer.concat(this.#held);
  }

  #hand(chunk: Uint8Array, start: number, end: number): void {
    if (this.#heldBytes === 0) {
      this.#take(chunk, start, end);
      return;
    }
    this.#held.push(chunk.subarray(start, end));
    const line = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    this.#take(line, 0, line.length);
  }
}
