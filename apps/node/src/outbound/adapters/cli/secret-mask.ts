const hidden = '***';
/** Shorter than this a form is hidden only where it stands as a word; */
const anywhereLength = 6;
/** and shorter than this not at all: it would blank everything, and it is no secret. */
const wordLength = 3;

/** Hides values that messages must not hold, in the forms in which programs print them. */
export class SecretMask {
  readonly #values: readonly string[];
  #forms: readonly string[] | undefined;
  #words: RegExp | undefined;

  /** Costs nothing until something is masked: most runs have nothing to say. */
  constructor(values: readonly string[]) {
    this.#values = values;
  }

  mask(text: string): string {
    let masked = text;
    for (const form of this.#allForms()) masked = masked.replaceAll(form, hidden);
    return this.#words === undefined ? masked : masked.replace(this.#words, hidden);
  }

  /** Of a text that was cut off at its start: without what may be the end of a value. */
  maskCut(text: string): string {
    // What is whole first: else its begin might be taken for the end of another one.
    const masked = this.mask(text);
    return masked.slice(Math.max(0, ...this.#allForms().map((form) => overlap(form, masked))));
  }

  #allForms(): readonly string[] {
    if (this.#forms !== undefined) return this.#forms;
    const all = new Set(this.#values.flatMap(formsOf));
    this.#forms = [...all]
      .filter(({ length }) => length >= anywhereLength)
      .sort((a, b) => b.length - a.length);
    const words = [...all].filter(({ length }) => length >= wordLength && length < anywhereLength);
    if (words.length > 0)
      this.#words = new RegExp(
        `(?<![\\p{L}\\p{N}])(?:${words.map(escapeSyntax).join('|')})(?![\\p{L}\\p{N}])`,
        'gu',
      );
    return this.#forms;
  }
}

/** How much of the start of `text` is the end of `form`. */
function overlap(form: string, text: string): number {
  for (let length = form.length - 1; length > 0; length--) {
    if (text.startsWith(form.slice(-length))) return length;
  }
  return 0;
}

function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  return [value, value.trim(), ...lines].filter((text) => text !== '').flatMap(encodings);
}

function encodings(text: string): string[] {
  const bytes = Buffer.from(text);
  const url = encodeURIComponent(text);
  const base64 = [bytes.toString('base64'), ...[0, 1, 2].map((shift) => innerBase64(bytes, shift))];
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    url,
    url.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
    url.replaceAll('%20', '+'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    // A short value has short pieces in the middle of others; these would hide what is nobody's.
    ...base64.filter(({ length }) => length >= anywhereLength),
    ...base64.map(toUrlSafe).filter(({ length }) => length >= anywhereLength),
  ];
}

/** What of base64 does not depend on what stands before (`shift` bytes of it, modulo 3) and after. */
function innerBase64(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

function toUrlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function escapeSyntax(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
