/**
 * Protobuf's wire format as the hand codecs write it: sizes first, then bytes in place. Fields at their
 * default are left out, as every proto3 encoder does. Tags of one byte (fields 1 to 15) unless said.
 */

export function isUint32(value: number): boolean {
  return value >>> 0 === value;
}

/** Of a field with a one-byte tag; empty ones are left out. */
export function sizeOfBytes(length: number): number {
  return length === 0 ? 0 : 1 + sizeOfVarint(length) + length;
}

export function sizeOfUint(value: number): number {
  return value === 0 ? 0 : 1 + sizeOfVarint(value);
}

export function sizeOfVarint(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}

export function writeText(target: Uint8Array, start: number, tag: number, text: string): number {
  target[start] = tag;
  const at = writeVarint(target, start + 1, text.length);
  for (let index = 0; index < text.length; index++) target[at + index] = text.charCodeAt(index);
  return at + text.length;
}

export function writeUint(target: Uint8Array, start: number, tag: number, value: number): number {
  target[start] = tag;
  return writeVarint(target, start + 1, value);
}

export function writeVarint(target: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 0x7f) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

export function writeBytes(target: Uint8Array, start: number, tag: number, bytes: Uint8Array): number {
  target[start] = tag;
  const at = writeVarint(target, start + 1, bytes.length);
  target.set(bytes, at);
  return at + bytes.length;
}
