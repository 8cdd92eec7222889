import type { FinishReason, RunEnd, Usage } from '@iop/domain';
import { fault } from '../http-upstream/upstream-fault.ts';
import { afterColon, skipValue } from './json-scan.ts';

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

/** Any word that a server gives as `finish_reason`. */
export function toFinishReason(word: unknown): FinishReason {
  return (typeof word === 'string' ? finishes[word] : undefined) ?? 'other';
}

/** A `usage` object as servers write it, the Responses API included; undefined if its numbers are missing or senseless. */
export function toUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const promptTokens = toCount(fields.prompt_tokens ?? fields.input_tokens);
  if (promptTokens === undefined) return undefined;
  const completionTokens = toCount(fields.completion_tokens ?? fields.output_tokens) ?? 0;
  return { promptTokens, completionTokens, estimated: false };
}

/** The last `usage` object in a part of a JSON text, which may begin and end anywhere. */
export function findUsage(part: Uint8Array): Usage | undefined {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  const at = bytes.lastIndexOf('"usage"');
  const value = at === -1 ? -1 : afterColon(bytes, at + 7, bytes.length);
  const end = value === -1 ? -1 : skipValue(bytes, value, bytes.length);
  return end === -1 ? undefined : toUsage(parseRange(bytes, value, end));
}

/** The JSON value that stands in `bytes[start, end)`; the scanner has seen that it is one. */
export function parseRange(bytes: Uint8Array, start: number, end: number): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString());
}

export function malformedAnswer(where: string, what: string): RunEnd {
  const message = `${where} sent an answer that is not a JSON object: ${what}`;
  return { kind: 'failed', failure: fault('unavailable', 'upstream.malformed', message) };
}

export function tooLargeAnswer(where: string, maxBytes: number): RunEnd {
  const message = `${where} sent an answer of more than ${maxBytes / 1024 / 1024} MiB, which cannot be turned`;
  const failure = fault('unavailable', 'upstream.answer-too-large', message);
  return { kind: 'failed', failure: { ...failure, retryable: false } };
}

function toCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff
    ? value
    : undefined;
}
