const maxBytes = 8 * 1024;
const shownBytes = 2 * 1024;

/** The last of what a program said on stderr, without the values that must not be told. */
export class StderrTail {
  readonly #secrets: readonly string[];
  #tail = Buffer.alloc(0);
  #isCut = false;

  /** @param secrets values that were passed to the child; short ones are no secrets and are left alone */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((secret) => secret.length >= 6).sort((a, b) => b.length - a.length);
  }

  push(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#tail, chunk.subarray(-maxBytes)]);
    this.#isCut ||= all.length > maxBytes || chunk.length > maxBytes;
    this.#tail = Buffer.from(all.subarray(-maxBytes));
  }

  /** Trimmed, at most 2 KiB; masked before it is cut, so that no half of a secret stays. */
  text(): string {
    const masked = this.mask(this.#tail.toString('utf8'));
    // Where the tail was cut it may begin with the end of a secret.
    const known = this.#isCut ? masked.slice(this.#secrets[0]?.length ?? 0) : masked;
    const whole = stripControls(known).trim();
    return whole.length <= shownBytes ? whole : `…${whole.slice(-shownBytes)}`;
  }

  mask(text: string): string {
    let masked = text;
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, '***');
    return masked;
  }
}

/** Colours and cursor movements are for terminals; a message is not one. */
function stripControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');
}
