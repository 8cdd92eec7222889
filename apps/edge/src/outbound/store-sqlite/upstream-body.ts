import { readVarint } from './segment-bytes.ts';

/** events > RunEvent.end > EndEvent.failed > Failed.upstream */
const upstreamPath = [4, 14, 2, 4];

/** An encoded event without what the upstream answered: that is content, and the end itself stays. */
export function withoutUpstreamBody(bytes: Uint8Array): Uint8Array {
  return withoutField(bytes, upstreamPath);
}

function withoutField(bytes: Uint8Array, [field = 0, ...deeper]: readonly number[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { start, end, number, head } = readField(bytes, at);
    if (number !== field || start === end) parts.push(bytes.subarray(at, end));
    else if (deeper.length > 0)
      parts.push(...wrapped(head, withoutField(bytes.subarray(start, end), deeper)));
    at = end;
  }
  return concat(parts);
}

/** A field: its tag, and where its content begins and ends. */
function readField(bytes: Uint8Array, at: number) {
  const tag = readVarint(bytes, at);
  const head = bytes.subarray(at, tag.next);
  const number = tag.value >>> 3;
  const type = tag.value & 7;
  if (type === 2) {
    const { value, next } = readVarint(bytes, tag.next);
    return { start: next, end: next + value, number, head };
  }
  const end = type === 0 ? readVarint(bytes, tag.next).next : tag.next + (type === 1 ? 8 : 4);
  return { start: end, end, number, head };
}

function wrapped(head: Uint8Array, content: Uint8Array): Uint8Array[] {
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  return [head, new Uint8Array([...length, rest]), content];
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
