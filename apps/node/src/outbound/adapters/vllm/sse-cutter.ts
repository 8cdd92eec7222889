const LF = 0x0a;
const CR = 0x0d;

/** Takes whole server-sent events, each with the blank line that ends it. */
export interface EventTaker {
  event(bytes: Uint8Array, start: number, end: number): void;
}

/**
 * Finds where server-sent events end, in chunks that were cut anywhere, and hands on ranges of the
 * very bytes that came: an event that lies in one chunk is never copied. Lines end with LF, CR LF or
 * CR.
 *
 * C1: the ranges handed on, in order, are the stream without loss (but for a LF that belongs to a CR
 *     already handed on).
 * C2: what waits for its blank line is at most `maxEventBytes`; `push` answers false beyond it.
 */
export class SseCutter {
  readonly #taker: EventTaker;
  readonly #maxEventBytes: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #atLineStart = true;
  // CR lines are rare: one in the stream switches to the byte-wise reader for good.
  #sawCr = false;
  #afterCr = false;
  #blankCr = false;
  #pairs = false;
  #start = 0;

  constructor(taker: EventTaker, maxEventBytes: number) {
    this.#taker = taker;
    this.#maxEventBytes = maxEventBytes;
  }

  /** False: one event is larger than allowed; nothing may be pushed any more. */
  push(chunk: Uint8Array): boolean {
    if (!this.#sawCr && chunk.includes(CR)) this.#sawCr = true;
    const rest = this.#sawCr ? this.#cutAnyLines(chunk) : this.#cutLfLines(chunk);
    if (rest < chunk.length) {
      this.#held.push(chunk.subarray(rest));
      this.#heldBytes += chunk.length - rest;
    }
    return this.#heldBytes <= this.#maxEventBytes;
  }

  /** What came after the last whole event. */
  rest(): Uint8Array {
    return this.#held.length === 1 ? (this.#held[0] as Uint8Array) : Buffer.concat(this.#held);
  }

  /** @returns where the first byte stands that belongs to no whole event yet */
  #cutLfLines(chunk: Uint8Array): number {
    let start = 0;
    let at = 0;
    while (at < chunk.length) {
      if (chunk[at] === LF && this.#atLineStart) {
        at++;
        this.#hand(chunk, start, at);
        start = at;
        continue;
      }
      const end = chunk.indexOf(LF, at);
      if (end === -1) {
        this.#atLineStart = false;
        break;
      }
      this.#atLineStart = true;
      at = end + 1;
    }
    return start;
  }

  #cutAnyLines(chunk: Uint8Array): number {
    this.#start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#afterCr && this.#settleCr(chunk, at)) continue;
      if (byte === CR) {
        this.#afterCr = true;
        this.#blankCr = this.#atLineStart;
        this.#atLineStart = true;
      } else if (byte === LF) {
        if (this.#atLineStart) this.#handUpTo(chunk, at + 1);
        this.#atLineStart = true;
      } else {
        this.#atLineStart = false;
      }
    }
    // A blank line of a lone CR is whole now; where lines end in pairs, its LF is still to come.
    if (this.#blankCr && !this.#pairs) this.#handUpTo(chunk, chunk.length);
    return this.#start;
  }

  /** Decides about the CR before `at`. True: the byte at `at` was its LF. */
  #settleCr(chunk: Uint8Array, at: number): boolean {
    this.#afterCr = false;
    const isPair = chunk[at] === LF;
    this.#pairs ||= isPair;
    if (this.#blankCr) this.#handUpTo(chunk, isPair ? at + 1 : at);
    else if (isPair && at === this.#start && this.#heldBytes === 0) this.#start = at + 1;
    return isPair;
  }

  #handUpTo(chunk: Uint8Array, end: number): void {
    this.#hand(chunk, this.#start, end);
    this.#start = end;
    this.#blankCr = false;
  }

  #hand(chunk: Uint8Array, start: number, end: number): void {
    if (this.#heldBytes === 0) {
      this.#taker.event(chunk, start, end);
      return;
    }
    this.#held.push(chunk.subarray(start, end));
    const whole = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    this.#taker.event(whole, 0, whole.length);
  }
}
