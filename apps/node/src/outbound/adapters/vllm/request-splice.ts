import { skipSpace, skipValue, walkObject } from './json-scan.ts';

/** The caller's body with our values in it; `choices` is its `n`. */
export type SplicedRequest =
  | { kind: 'spliced'; body: Uint8Array; choices: number }
  | { kind: 'invalid'; message: string };

export interface RequestValues {
  model: string;
  /** Ask for `stream_options.include_usage`; false: that option is left as it came. */
  includeUsage: boolean;
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
  return { kind: 'spliced', body: applyEdits(body, plan.finish(open, after)), choices: plan.choices };
}

class SplicePlan {
  choices = 1;
  readonly #edits: Edit[] = [];
  readonly #body: Uint8Array;
  readonly #values: RequestValues;
  #sawModel = false;
  #sawOptions = false;
  #members = 0;

  constructor(body: Uint8Array, values: RequestValues) {
    this.#body = body;
    this.#values = values;
  }

  readonly member = (keyStart: number, keyEnd: number, start: number, end: number): void => {
    this.#members++;
    const key = keyText(this.#body, keyStart, keyEnd, 32);
    if (key === 'model') {
      this.#sawModel = true;
      this.#edits.push({ start, end, text: JSON.stringify(this.#values.model) });
    } else if (key === 'n') {
      this.choices = countOf(this.#body, start, end);
    } else if (key === 'stream_options' && this.#values.includeUsage) {
      this.#sawOptions = true;
      this.#setUsage(start, end);
    }
  };

  /** What is still missing goes right behind the opening brace. */
  finish(open: number, after: number): readonly Edit[] {
    const missing: string[] = [];
    if (!this.#sawModel) missing.push(`"model":${JSON.stringify(this.#values.model)}`);
    if (this.#values.includeUsage && !this.#sawOptions) {
      missing.push('"stream_options":{"include_usage":true}');
    }
    if (missing.length === 0) return this.#edits;
    const text = this.#members === 0 ? missing.join(',') : `${missing.join(',')},`;
    return after > open ? [{ start: open + 1, end: open + 1, text }, ...this.#edits] : this.#edits;
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
