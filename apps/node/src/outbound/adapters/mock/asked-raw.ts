import type { ExecutionSpec } from '@iop/runtime';
import { type Asked, countWords, plain, readBody } from './asked.ts';

/** Fields in which requests of many shapes carry their text. */
const textFields = ['prompt', 'input', 'query', 'text'];
/** A form may hold a film; a script in it stands in its beginning. */
const searchedBytes = 64 * 1024;

export function readRaw(spec: ExecutionSpec): Asked | string {
  if (spec.raw === undefined) return 'a raw request has no path';
  const prompt = /json/i.test(spec.raw.contentType) ? textOf(spec) : scriptOf(spec.body);
  return { ...plain, prompt, promptTokens: countWords(prompt) };
}

function textOf(spec: ExecutionSpec): string {
  const body = readBody(spec);
  if (typeof body === 'string') return '';
  const text = textFields.map((name) => body[name]).find((value) => typeof value === 'string');
  return typeof text === 'string' ? text : '';
}

function scriptOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, searchedBytes));
  return /<mock>[\s\S]*?<\/mock>/.exec(text)?.[0] ?? '';
}
