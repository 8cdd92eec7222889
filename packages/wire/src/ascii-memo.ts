/**
 * Ids and dialects repeat in every frame. Reading one that was read lately gives the same string object, without
 * allocating, and one that a Map has already hashed. A memo of fixed size, not state: it never changes a result.
 */
const memo: string[] = new Array(1024).fill('');
const longestMemoised = 64;

/** The text of `bytes[start, end)`, or undefined if not all of it is ASCII. */
export function readAscii(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start > longestMemoised) return undefined;
  let hash = 0;
  let seen = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    hash = (hash * 31 + byte) | 0;
    seen |= byte;
  }
  if (seen > 0x7f) return undefined;
  const slot = (hash ^ (hash >>> 15)) & 1023;
  const known = memo[slot] as string;
  if (isSame(known, bytes, start, end)) return known;
  const text = String.fromCharCode.apply(null, bytes.subarray(start, end) as unknown as number[]);
  memo[slot] = text;
  return text;
}

/** Whether `text` is short and ASCII only, so that its UTF-8 is its char codes. */
export function isAscii(text: string): boolean {
  if (text.length > longestMemoised) return false;
  let seen = 0;
  for (let at = 0; at < text.length; at++) seen |= text.charCodeAt(at);
  return seen <= 0x7f;
}

function isSame(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}
