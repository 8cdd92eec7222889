import { type Fields, isFields } from './problem-list.ts';

/** O7: one line may take so much; beyond it the upstream is broken or hostile. */
export const maxLineBytes = 4 * 1024 * 1024;

/** Undefined: it is no JSON object. */
export function parseLine(bytes: Uint8Array): Fields | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}
