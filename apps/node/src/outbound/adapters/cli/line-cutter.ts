const newline = 0x0a;

/** Whole lines out of chunks, cut anywhere, in bounded memory. */
export class LineCutter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this chunk, without their ends; `undefined`: one is too long. */
  push(chunk: Uint8Array): Uint8Array[] | undefined {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      if (!this.#hold(chunk.subarray(start, at))) return undefined;
      lines.push(this.rest());
      start = at + 1;
    }
    return this.#hold(chunk.subarray(start)) ? lines : undefined;
  }

  /** What came after the last line's end; takes it. */
  rest(): Uint8Array {
    const [only] = this.#parts;
    const line = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#sizeBytes = 0;
    return line;
  }

  #hold(part: Uint8Array): boolean {
    this.#sizeBytes += part.length;
    if (this.#sizeBytes > this.#maxBytes) return false;
    if (part.length > 0) this.#parts.push(part);
    return true;
  }
}
