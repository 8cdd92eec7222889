import type { SecretMask } from './secret-mask.ts';

const maxBytes = 8 * 1024;
const shownLength = 2 * 1024;

/** The last of what a program said on stderr, without the values that must not be told. */
export class StderrTail {
  readonly #mask: SecretMask;
  #tail = Buffer.alloc(0);
  #isCut = false;

  constructor(mask: SecretMask) {
    this.#mask = mask;
  }

  push(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#tail, chunk.subarray(-maxBytes)]);
    this.#isCut ||= all.length > maxBytes || chunk.length > maxBytes;
    this.#tail = Buffer.from(all.subarray(-maxBytes));
  }

  /** Trimmed and short; masked before it is cut, so that no half of a value stays. */
  text(): string {
    const text = stripControls(this.#tail.toString('utf8'));
    const masked = this.#isCut ? this.#mask.maskCut(text.replace(/^\uFFFD+/, '')) : this.#mask.mask(text);
    const whole = masked.trim();
    return whole.length <= shownLength ? whole : `…${whole.slice(-shownLength)}`;
  }
}

/** Colours and cursor movements are for terminals; a message is not one. */
function stripControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');
}
