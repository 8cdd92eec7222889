import type { Writable } from 'node:stream';

/** One line: bytes become text, what is undefined is left out. */
export function printJson(out: Writable, value: unknown): void {
  out.write(
    `${JSON.stringify(value, (_key, field) => (field instanceof Uint8Array ? toText(field) : field))}\n`,
  );
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
