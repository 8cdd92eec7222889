import { afterColon, skipSpace, skipString, skipValue } from './json-scan.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const NULL = 0x6e;
const FALSE = 0x66;

/**
 * One pass over a chunk or a JSON answer of the OpenAI dialect that checks that it is JSON and finds
 * where the few things stand that we have to know. Builds nothing: what is found is parsed by whoever
 * wants it. One instance a run, reused for every chunk.
 */
export class AnswerScanner {
  /** Start of a top-level `error` that says something, or -1. */
  errorAt = -1;
  errorEnd = -1;
  /** Top-level `object` is "error": the older shape of vLLM. */
  isErrorObject = false;
  /** Start of a top-level `usage` object, or -1. */
  usageAt = -1;
  usageEnd = -1;
  /** Elements of top-level `choices`; -1: there is no such array. */
  choices = -1;
  /** Choices of this chunk that give a `finish_reason`, and where the last one's value stands. */
  finishes = 0;
  finishAt = -1;
  finishEnd = -1;

  /** False: not one JSON object. */
  scan(bytes: Uint8Array, start: number, end: number): boolean {
    this.#reset();
    const open = skipSpace(bytes, start, end);
    if (open >= end || bytes[open] !== OPEN_BRACE) return false;
    const after = this.#members(bytes, open, end, topLevel);
    return after !== -1 && skipSpace(bytes, after, end) === end;
  }

  #reset(): void {
    this.errorAt = -1;
    this.isErrorObject = false;
    this.usageAt = -1;
    this.choices = -1;
    this.finishes = 0;
    this.finishAt = -1;
  }

  /** @returns the position after the closing brace, or -1 */
  #members(bytes: Uint8Array, open: number, end: number, level: number): number {
    let at = skipSpace(bytes, open + 1, end);
    if (at < end && bytes[at] === 0x7d) return at + 1;
    while (at < end && bytes[at] === 0x22) {
      at = this.#member(bytes, at, end, level);
      if (at === -1) return -1;
      at = skipSpace(bytes, at, end);
      if (at >= end) return -1;
      if (bytes[at] === 0x7d) return at + 1;
      if (bytes[at] !== 0x2c) return -1;
      at = skipSpace(bytes, at + 1, end);
    }
    return -1;
  }

  #member(bytes: Uint8Array, quote: number, end: number, level: number): number {
    const afterKey = skipString(bytes, quote, end);
    const value = afterKey === -1 ? -1 : afterColon(bytes, afterKey, end);
    if (value === -1) return -1;
    const key = quote + 1;
    const length = afterKey - 1 - key;
    if (level === topLevel && length === 7 && bytes[value] === OPEN_BRACKET && isKey(bytes, key, 'choices')) {
      return this.#choiceArray(bytes, value, end);
    }
    const valueEnd = skipValue(bytes, value, end, level);
    if (valueEnd === -1) return -1;
    if (level === topLevel) this.#noteTop(bytes, key, length, value, valueEnd);
    else if (length === 13 && isGiven(bytes, value, valueEnd) && isKey(bytes, key, 'finish_reason')) {
      this.finishes++;
      this.finishAt = value;
      this.finishEnd = valueEnd;
    }
    return valueEnd;
  }

  #noteTop(bytes: Uint8Array, key: number, length: number, value: number, valueEnd: number): void {
    if (length === 5) {
      if (bytes[value] === OPEN_BRACE && isKey(bytes, key, 'usage')) {
        this.usageAt = value;
        this.usageEnd = valueEnd;
      } else if (isGiven(bytes, value, valueEnd) && isKey(bytes, key, 'error')) {
        this.errorAt = value;
        this.errorEnd = valueEnd;
      }
    } else if (length === 6 && valueEnd - value === 7 && isKey(bytes, key, 'object')) {
      this.isErrorObject = isKey(bytes, value + 1, 'error');
    }
  }

  #choiceArray(bytes: Uint8Array, open: number, end: number): number {
    this.choices = 0;
    let at = skipSpace(bytes, open + 1, end);
    if (at < end && bytes[at] === 0x5d) return at + 1;
    while (at < end) {
      this.choices++;
      at = bytes[at] === OPEN_BRACE ? this.#members(bytes, at, end, inChoice) : skipValue(bytes, at, end, 2);
      if (at === -1) return -1;
      at = skipSpace(bytes, at, end);
      if (at >= end) return -1;
      if (bytes[at] === 0x5d) return at + 1;
      if (bytes[at] !== 0x2c) return -1;
      at = skipSpace(bytes, at + 1, end);
    }
    return -1;
  }
}

// They are also the depth of nesting that `skipValue` starts from.
const topLevel = 1;
const inChoice = 3;

/** Not null, false or an empty text: servers write all of them for nothing. */
function isGiven(bytes: Uint8Array, value: number, valueEnd: number): boolean {
  return bytes[value] !== NULL && bytes[value] !== FALSE && valueEnd - value > 2;
}

function isKey(bytes: Uint8Array, at: number, key: string): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key.charCodeAt(i)) return false;
  return true;
}
