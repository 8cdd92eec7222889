export interface CutterInit {
  /** What stands between the brackets of one array of numbers; in the order of the text. */
  take(numbers: Uint8Array): void;
  /** For what is held: the numbers that are coming, and all that is no array of numbers. */
  maxHeldBytes: number;
}

type State = 'outside' | 'string' | 'escape' | 'opened' | 'numbers';

/**
 * Takes the arrays of numbers out of a JSON text while it comes: embeddings are megabytes of nothing
 * else, and to parse them when the text is whole would stop everybody else for as long.
 *
 * N1: `rest` is the text, with the numbers of each such array replaced by how many were before it: `[0]`,
 *     `[1]`. It is JSON if the text is; what was taken is not looked at.
 * N2: the text may be cut anywhere.
 */
export class NumberArrayCutter {
  readonly #init: CutterInit;
  readonly #rest: Uint8Array[] = [];
  #numbers: Uint8Array[] = [];
  #heldBytes = 0;
  #state: State = 'outside';
  /** Arrays that were taken so far. */
  count = 0;

  constructor(init: CutterInit) {
    this.#init = init;
  }

  /** False: more is held than allowed; nothing may be pushed any more. */
  push(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length; ) {
      at = this.#state === 'numbers' ? this.#endOfNumbers(chunk, at) : this.#endOfRest(chunk, at);
    }
    return this.#heldBytes <= this.#init.maxHeldBytes;
  }

  /** N1. An array whose end has not come is missing, with all after it. */
  rest(): Buffer {
    return Buffer.concat(this.#rest);
  }

  /** Where the numbers end, in this chunk or with it. */
  #endOfNumbers(chunk: Uint8Array, from: number): number {
    const found = chunk.indexOf(bracketClose, from);
    const end = found === -1 ? chunk.length : found;
    this.#numbers.push(chunk.subarray(from, end));
    this.#heldBytes += end - from;
    if (found !== -1) this.#hand();
    return end;
  }

  #hand(): void {
    const numbers =
      this.#numbers.length === 1 ? (this.#numbers[0] as Uint8Array) : Buffer.concat(this.#numbers);
    this.#numbers = [];
    this.#heldBytes -= numbers.length;
    this.#rest.push(Buffer.from(String(this.count++)));
    this.#state = 'outside';
    this.#init.take(numbers);
  }

  /** Where the first number of an array stands, or the chunk ends. */
  #endOfRest(chunk: Uint8Array, from: number): number {
    let at = from;
    for (; at < chunk.length && this.#state !== 'numbers'; at++) {
      this.#state = nextState(this.#state, chunk[at] as number);
    }
    const end = this.#state === 'numbers' ? at - 1 : at;
    this.#rest.push(chunk.subarray(from, end));
    this.#heldBytes += end - from;
    return end;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const bracketOpen = 0x5b;
const bracketClose = 0x5d;

function nextState(state: State, byte: number): State {
  if (state === 'escape') return 'string';
  if (state === 'string') return byte === quote ? 'outside' : byte === backslash ? 'escape' : 'string';
  if (byte === quote) return 'string';
  if (byte === bracketOpen) return 'opened';
  if (state === 'opened' && isSpace(byte)) return 'opened';
  return state === 'opened' && beginsNumber(byte) ? 'numbers' : 'outside';
}

function beginsNumber(byte: number): boolean {
  return byte === 0x2d || (byte >= 0x30 && byte <= 0x39);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
