import { isUtf8 } from 'node:buffer';
import { locateJsonError } from './json-error.ts';
import { type Fields, isObject, nameOf } from './problem.ts';
import { invalidRequest, type Refusal } from './refusal.ts';

export type JsonBody = { kind: 'object'; fields: Fields } | { kind: 'refused'; refusal: Refusal };

export function parseJsonBody(bytes: Uint8Array): JsonBody {
  if (bytes.length === 0) return refused('The request body is empty; send a JSON object.', 'invalid_json');
  if (!isUtf8(bytes)) return refused('The request body is not UTF-8.', 'invalid_json');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return malformed(text, error);
  }
  if (isObject(value)) return { kind: 'object', fields: value };
  return refused(`The request body must be a JSON object, not ${nameOf(value)}.`, 'invalid_type');
}

function malformed(text: string, error: unknown): JsonBody {
  const { reason, position, line, column } = locateJsonError(
    text,
    error instanceof Error ? error.message : '',
  );
  const place = `at position ${position} (line ${line}, column ${column})`;
  return refused(`The request body is not valid JSON: ${reason} ${place}.`, 'invalid_json');
}

function refused(message: string, code: string): JsonBody {
  return { kind: 'refused', refusal: invalidRequest(message, code) };
}
