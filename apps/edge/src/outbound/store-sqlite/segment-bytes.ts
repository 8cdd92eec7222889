/**
 * Walks encoded events without decoding them. A segment is the field `events` (4) of a RunEvents message, once for
 * each event, so segments can be cut between events and put behind each other.
 */
export const holdsOwn = 1;
export const holdsContent = 2;

/** Where the event that begins at `at` ends. */
export function endOfEvent(bytes: Uint8Array, at: number): number {
  const { value, next } = readVarint(bytes, at + 1);
  return next + value;
}

/** Where the event after `count` others begins. */
export function skipEvents(bytes: Uint8Array, count: number): number {
  let at = 0;
  for (let left = count; left > 0; left--) at = endOfEvent(bytes, at);
  return at;
}

/** Whether the event that begins at `at` is one of the Edge's own: state, end, attempt, attempt-end. */
export function isOwnAt(bytes: Uint8Array, at: number): boolean {
  const { next } = readVarint(bytes, at + 1);
  return ownFields.has(readVarint(bytes, next).value >>> 3);
}

/** Numbers of their fields in RunEvent. */
const ownFields: ReadonlySet<number> = new Set([13, 14, 16, 17]);

export function readVarint(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  let at = start;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at++] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return { value: value >>> 0, next: at };
}
