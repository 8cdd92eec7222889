import { skipSpace, skipValue, walkObject } from './json-scan.ts';

/** The caller's body with our values in it, and what was read of it. */
export type SplicedRequest =
  | ({ kind: 'spliced'; body: Uint8Array } & RequestReading)
  | { kind: 'invalid'; message: string };

export interface RequestReading {
  /** Its `n`. */
  choices: number;
  /** It has `tools`, and they are not empty. */
  hasTools: boolean;
  /** Its `encoding_format` is base64. */
  wantsBase64: boolean;
}

export interface RequestValues {
  model: string;
  /** Ask for `stream_options.include_usage`; false: that option is left as it came. */
  includeUsage: boolean;
  /** Set top-level `stream`; undefined: it is left as it came. False sets `stream_options` to null. */
  stream?: boolean;
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * Sets top-level `model` and `stream_options.include_usage` in a JSON object and leaves every other
 * byte as it is: numbers keep their digits, strings their escapes, keys their order. A key that is
 * written twice is set twice, because servers differ in which one they read.
 */
export function spliceRequest(body: Uint8Array, values: RequestValues): SplicedRequest {
  const open = skipSpace(body, 0, body.length);
  if (body[open] !== 0x7b) return { kind: 'invalid', message: 'the body is not a JSON object' };
  const plan = new SplicePlan(body, values);
  const after = walkObject(body, open, body.length, plan.member);
  if (after === -1 || skipSpace(body, after, body.length) !== body.length) {
    return { kind: 'invalid', message: 'the body is not valid JSON' };
  }
  const { choices, hasTools, wantsBase64 } = plan;
  return { kind: 'spliced', body: applyEdits(body, plan.finish(open)), choices, hasTools, wantsBase64 };
}

class SplicePlan implements RequestReading {
  choices = 1;
  hasTools = false;
  wantsBase64 = false;
  readonly #edits: Edit[] = [];
  readonly #body: Uint8Array;
  readonly #values: RequestValues;
  #sawModel = false;
  #sawOptions = false;
  #sawStream = false;
  #members = 0;

  constructor(body: Uint8Array, values: RequestValues) {
    this.#body = body;
    this.#values = values;
  }

  readonly member = (keyStart: number, keyEnd: number, start: number, end: number): void => {
    this.#members++;
    const { model, stream } = this.#values;
    switch (keyText(this.#body, keyStart, keyEnd, 32)) {
      case 'model':
        this.#sawModel = true;
        this.#edits.push({ start, end, text: JSON.stringify(model) });
        break;
      case 'stream':
        this.#sawStream = true;
        if (stream !== undefined) this.#edits.push({ start, end, text: String(stream) });
        break;
      case 'stream_options':
        this.#setOptions(start, end);
        break;
      case 'n':
        this.choices = countOf(this.#body, start, end);
        break;
      case 'tools':
        this.hasTools = this.#body[start] === 0x5b && skipSpace(this.#body, start + 1, end) < end - 1;
        break;
      case 'encoding_format':
        this.wantsBase64 =
          this.#body[start] === 0x22 && keyText(this.#body, start + 1, end - 1, 8) === 'base64';
    }
  };

  /** What is still missing goes right behind the opening brace. */
  finish(open: number): readonly Edit[] {
    const { model, stream, includeUsage } = this.#values;
    const missing: string[] = [];
    if (!this.#sawModel) missing.push(`"model":${JSON.stringify(model)}`);
    if (stream !== undefined && !this.#sawStream) missing.push(`"stream":${stream}`);
    if (includeUsage && !this.#sawOptions) missing.push('"stream_options":{"include_usage":true}');
    if (missing.length === 0) return this.#edits;
    const text = this.#members === 0 ? missing.join(',') : `${missing.join(',')},`;
    return [{ start: open + 1, end: open + 1, text }, ...this.#edits];
  }

  /** Servers refuse the options of a stream where none is asked for. */
  #setOptions(start: number, end: number): void {
    if (this.#values.includeUsage) {
      this.#sawOptions = true;
      this.#setUsage(start, end);
    } else if (this.#values.stream === false) this.#edits.push({ start, end, text: 'null' });
  }

  #setUsage(start: number, end: number): void {
    if (this.#body[start] !== 0x7b) {
      this.#edits.push({ start, end, text: '{"include_usage":true}' });
      return;
    }
    let members = 0;
    let seen = false;
    const found: Edit[] = [];
    walkObject(this.#body, start, end, (keyStart, keyEnd, valueStart, valueEnd) => {
      members++;
      if (keyText(this.#body, keyStart, keyEnd, 32) !== 'include_usage') return;
      seen = true;
      found.push({ start: valueStart, end: valueEnd, text: 'true' });
    });
    if (!seen) {
      const text = members === 0 ? '"include_usage":true' : '"include_usage":true,';
      found.push({ start: start + 1, end: start + 1, text });
    }
    this.#edits.push(...found);
  }
}

/** A key as text, its escapes resolved; longer than `limit` characters cannot be one of ours. */
function keyText(bytes: Uint8Array, start: number, end: number, limit: number): string {
  if (end - start > limit * 6) return '';
  let text = '';
  for (let at = start; at < end; at++) {
    if (bytes[at] === 0x5c) return escapedKey(bytes, start, end);
    text += String.fromCharCode(bytes[at] as number);
  }
  return text;
}

function escapedKey(bytes: Uint8Array, start: number, end: number): string {
  return JSON.parse(`"${new TextDecoder().decode(bytes.subarray(start, end))}"`) as string;
}

function countOf(bytes: Uint8Array, start: number, end: number): number {
  if (skipValue(bytes, start, end) !== end || end - start > 6) return 1;
  const count = Number(new TextDecoder().decode(bytes.subarray(start, end)));
  return Number.isInteger(count) && count >= 1 ? count : 1;
}

function applyEdits(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const edit of edits) {
    parts.push(body.subarray(at, edit.start), Buffer.from(edit.text));
    at = edit.end;
  }
  parts.push(body.subarray(at));
  return Buffer.concat(parts);
}
