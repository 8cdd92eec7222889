/**
 * A strict JSON reader over bytes that builds nothing: positions in, positions out, -1 for anything
 * that is not JSON (RFC 8259) or is not whole. It stands on the hot path of every chunk, and lets a
 * body be changed in two places while all its other bytes stay as they are.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Deeper nesting is refused: no honest request needs it, and the reader recurses. */
const maxDepth = 500;

/** Is `bytes[start, end)` exactly one JSON value, white space around it allowed? */
export function isJson(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  const after = skipValue(bytes, skipSpace(bytes, start, end), end);
  return after !== -1 && skipSpace(bytes, after, end) === end;
}

export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    at++;
  }
  return at;
}

/** @param start the first byte of the value. @returns the position after it, or -1 */
export function skipValue(bytes: Uint8Array, start: number, end: number, depth = 0): number {
  if (start >= end) return -1;
  switch (bytes[start]) {
    case QUOTE:
      return skipString(bytes, start, end);
    case OPEN_BRACE:
      return depth === maxDepth ? -1 : skipObject(bytes, start, end, depth + 1);
    case OPEN_BRACKET:
      return depth === maxDepth ? -1 : skipArray(bytes, start, end, depth + 1);
    case 0x74:
      return skipWord(bytes, start, end, 'true');
    case 0x66:
      return skipWord(bytes, start, end, 'false');
    case 0x6e:
      return skipWord(bytes, start, end, 'null');
    default:
      return skipNumber(bytes, start, end);
  }
}

/** @param start the opening quote */
export function skipString(bytes: Uint8Array, start: number, end: number): number {
  let at = start + 1;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return at + 1;
    if (byte < 0x20) return -1;
    if (byte === BACKSLASH) {
      at = skipEscape(bytes, at, end);
      if (at === -1) return -1;
    } else {
      at++;
    }
  }
  return -1;
}

/**
 * Walks the members of an object.
 *
 * @param start the opening brace
 * @param member gets the key's range (quotes excluded) and the value's range
 * @returns the position after the closing brace, or -1
 */
export function walkObject(bytes: Uint8Array, start: number, end: number, member: MemberVisitor): number {
  let at = skipSpace(bytes, start + 1, end);
  if (bytes[at] === CLOSE_BRACE) return at + 1;
  while (at < end && bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at, end);
    if (keyEnd === -1) return -1;
    const valueStart = afterColon(bytes, keyEnd, end);
    if (valueStart === -1) return -1;
    const valueEnd = skipValue(bytes, valueStart, end, 1);
    if (valueEnd === -1) return -1;
    member(at + 1, keyEnd - 1, valueStart, valueEnd);
    const next = skipSpace(bytes, valueEnd, end);
    if (next < end && bytes[next] === CLOSE_BRACE) return next + 1;
    if (next >= end || bytes[next] !== COMMA) return -1;
    at = skipSpace(bytes, next + 1, end);
  }
  return -1;
}

export type MemberVisitor = (keyStart: number, keyEnd: number, valueStart: number, valueEnd: number) => void;

/** @returns the first byte of the value behind a key, or -1 */
export function afterColon(bytes: Uint8Array, keyEnd: number, end: number): number {
  const at = bytes[keyEnd] === COLON ? keyEnd : skipSpace(bytes, keyEnd, end);
  if (at >= end || bytes[at] !== COLON) return -1;
  return skipSpace(bytes, at + 1, end);
}

function skipObject(bytes: Uint8Array, start: number, end: number, depth: number): number {
  let at = skipSpace(bytes, start + 1, end);
  if (at < end && bytes[at] === CLOSE_BRACE) return at + 1;
  while (at < end && bytes[at] === QUOTE) {
    at = skipMember(bytes, at, end, depth);
    if (at === -1) return -1;
    at = skipSpace(bytes, at, end);
    if (at >= end) return -1;
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipSpace(bytes, at + 1, end);
  }
  return -1;
}

function skipMember(bytes: Uint8Array, start: number, end: number, depth: number): number {
  const keyEnd = skipString(bytes, start, end);
  if (keyEnd === -1) return -1;
  const value = afterColon(bytes, keyEnd, end);
  return value === -1 ? -1 : skipValue(bytes, value, end, depth);
}

function skipArray(bytes: Uint8Array, start: number, end: number, depth: number): number {
  let at = skipSpace(bytes, start + 1, end);
  if (at < end && bytes[at] === CLOSE_BRACKET) return at + 1;
  while (at < end) {
    at = skipValue(bytes, at, end, depth);
    if (at === -1) return -1;
    at = skipSpace(bytes, at, end);
    if (at >= end) return -1;
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipSpace(bytes, at + 1, end);
  }
  return -1;
}

function skipEscape(bytes: Uint8Array, start: number, end: number): number {
  const kind = start + 1 < end ? (bytes[start + 1] as number) : 0;
  if (kind === 0x75) {
    if (start + 6 > end) return -1;
    for (let at = start + 2; at < start + 6; at++) if (!isHex(bytes[at] as number)) return -1;
    return start + 6;
  }
  // " \ / b f n r t
  const known =
    kind === QUOTE ||
    kind === BACKSLASH ||
    kind === 0x2f ||
    kind === 0x62 ||
    kind === 0x66 ||
    kind === 0x6e ||
    kind === 0x72 ||
    kind === 0x74;
  return known ? start + 2 : -1;
}

function skipWord(bytes: Uint8Array, start: number, end: number, word: string): number {
  if (start + word.length > end) return -1;
  for (let i = 1; i < word.length; i++) if (bytes[start + i] !== word.charCodeAt(i)) return -1;
  return start + word.length;
}

function skipNumber(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  const whole = skipDigits(bytes, first, end);
  if (whole === first || (bytes[first] === 0x30 && whole > first + 1)) return -1;
  const fraction = skipFraction(bytes, whole, end);
  return fraction === -1 ? -1 : skipExponent(bytes, fraction, end);
}

function skipFraction(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end || bytes[at] !== 0x2e) return at;
  const after = skipDigits(bytes, at + 1, end);
  return after === at + 1 ? -1 : after;
}

function skipExponent(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end || (bytes[at] !== 0x65 && bytes[at] !== 0x45)) return at;
  const signed = at + 1 < end && (bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d);
  const first = signed ? at + 2 : at + 1;
  const after = skipDigits(bytes, first, end);
  return after === first ? -1 : after;
}

function skipDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(bytes[at] as number)) at++;
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
