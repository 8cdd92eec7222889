import { toBase64Vector, toFloatVector } from '../http-upstream/embedding-body.ts';
import { skipSpace } from './json-scan.ts';

type Shape = 'base64' | 'float';

/** One vector may take so much as text; beyond it the upstream is broken or hostile. */
const maxVectorBytes = 4 * 1024 * 1024;
/** A key and the white space behind it that are held back at the end of a chunk. */
const maxHeldBytes = 1024;
const key = Buffer.from('"embedding"');

/**
 * Gives vectors in the shape that was asked for, whichever one the upstream gives, in chunks that were
 * cut anywhere. The first vector decides: if it has the right shape, all bytes pass as they are and
 * nothing is looked at any more. Else each vector is written anew and every other byte stays.
 *
 * V1: `"embedding":` not behind a backslash is a key wherever it stands, because JSON escapes quotes.
 * V2: at most one vector is held.
 */
export class EmbeddingConverter {
  /** Why the answer cannot be read; nothing counts after it. */
  problem: string | undefined;
  readonly #wanted: Shape;
  #mode: 'seek' | 'vector' | 'through' = 'seek';
  #isConverting = false;
  #held: Uint8Array | undefined;
  #vector: Uint8Array[] = [];
  #vectorBytes = 0;

  constructor(wanted: Shape) {
    this.#wanted = wanted;
  }

  push(chunk: Uint8Array): Uint8Array[] {
    if (this.#mode === 'through') return [chunk];
    const out: Uint8Array[] = [];
    const held = this.#held;
    this.#held = undefined;
    const bytes = held === undefined ? toBuffer(chunk) : Buffer.concat([held, chunk]);
    let at = 0;
    while (at < bytes.length && this.problem === undefined) {
      at = this.#mode === 'vector' ? this.#takeVector(bytes, at, out) : this.#seek(bytes, at, out);
    }
    return out;
  }

  /** What was held back when the answer ended. */
  rest(): Uint8Array[] {
    if (this.#mode === 'vector') this.problem ??= 'it ended within a vector';
    return this.#held === undefined ? [] : [this.#held];
  }

  /** @returns how far `bytes` was read */
  #seek(bytes: Buffer, start: number, out: Uint8Array[]): number {
    const found = findValue(bytes, start);
    if (found.kind === 'none') return this.#hold(bytes, start, found.at, out);
    const shape = shapeOf(bytes[found.at]);
    const isWrong = shape !== undefined && shape !== this.#wanted;
    if (isWrong) {
      out.push(bytes.subarray(start, found.at));
      this.#isConverting = true;
      this.#mode = 'vector';
      return found.at + 1;
    }
    if (this.#isConverting) {
      out.push(bytes.subarray(start, found.at + 1));
      return found.at + 1;
    }
    this.#mode = 'through';
    out.push(bytes.subarray(start));
    return bytes.length;
  }

  /** Emits up to `end`, keeps the rest for the next chunk. */
  #hold(bytes: Buffer, start: number, end: number, out: Uint8Array[]): number {
    if (end > start) out.push(bytes.subarray(start, end));
    this.#held = Buffer.from(bytes.subarray(end));
    if (this.#held.length > maxHeldBytes) this.problem = 'a key has no value';
    return bytes.length;
  }

  #takeVector(bytes: Buffer, start: number, out: Uint8Array[]): number {
    const found = bytes.indexOf(this.#wanted === 'base64' ? 0x5d : 0x22, start);
    const end = found === -1 ? bytes.length : found;
    this.#vector.push(bytes.subarray(start, end));
    this.#vectorBytes += end - start;
    if (this.#vectorBytes > maxVectorBytes) this.problem = `a vector has more than ${maxVectorBytes} bytes`;
    if (found === -1 || this.problem !== undefined) return bytes.length;
    const text = Buffer.concat(this.#vector).toString('latin1');
    this.#vector = [];
    this.#vectorBytes = 0;
    this.#mode = 'seek';
    const converted = this.#wanted === 'base64' ? floatsToBase64(text) : base64ToFloats(text);
    if (converted === undefined) this.problem = `a vector cannot be read: ${text.slice(0, 40)}`;
    else out.push(Buffer.from(converted));
    return found + 1;
  }
}

/** `none`: from `at` on a key may begin that the next chunk completes. */
function findValue(bytes: Buffer, start: number): { kind: 'value' | 'none'; at: number } {
  for (let from = start; ; ) {
    const at = bytes.indexOf(key, from);
    // One byte more than a key without its end: it may be the backslash.
    if (at === -1) return { kind: 'none', at: Math.max(from, bytes.length - key.length) };
    const colon = skipSpace(bytes, at + key.length, bytes.length);
    const value = bytes[colon] === 0x3a ? skipSpace(bytes, colon + 1, bytes.length) : colon;
    const isEscaped = at > 0 && bytes[at - 1] === 0x5c;
    if (!isEscaped && value === bytes.length) return { kind: 'none', at: Math.max(start, at - 1) };
    if (!isEscaped && value !== colon) return { kind: 'value', at: value };
    from = at + key.length;
  }
}

function shapeOf(first: number | undefined): Shape | undefined {
  if (first === 0x22) return 'base64';
  return first === 0x5b ? 'float' : undefined;
}

function floatsToBase64(text: string): string | undefined {
  let values: unknown;
  try {
    values = JSON.parse(`[${text}]`);
  } catch {
    return undefined;
  }
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'number')) return undefined;
  return `"${toBase64Vector(values)}"`;
}

function base64ToFloats(text: string): string | undefined {
  const floats = toFloatVector(text);
  return floats === undefined ? undefined : JSON.stringify(floats);
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
