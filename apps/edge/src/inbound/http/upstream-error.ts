import { type Fields, isObject } from './problem.ts';
import type { Refusal } from './refusal.ts';

const messageLimit = 4096;

/**
 * The upstream's own words, from any of the shapes that servers of this dialect answer:
 * `{error: {message, type, param, code}}`, the older `{object: "error", message, …}`,
 * `{error: "text"}`, `{detail: …}` or no JSON at all. Empty when it said nothing.
 */
export function readUpstreamError(body: Uint8Array, status: number): Partial<Refusal> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const fields = errorFields(text);
  if (fields === undefined) return said(`The upstream answered ${status}: ${text.trim()}`, text);
  const { message, type, param, code } = fields;
  return {
    ...(isText(message) && { message: shorten(message) }),
    ...(isText(type) && { type }),
    ...(isText(param) && { param }),
    ...codeOf(code, status),
  };
}

function errorFields(text: string): Fields | undefined {
  const value = parse(text);
  if (!isObject(value)) return undefined;
  if (isObject(value.error)) return value.error;
  if (isText(value.error)) return { message: value.error };
  if (isText(value.message)) return value;
  if (value.detail === undefined) return undefined;
  return { message: isText(value.detail) ? value.detail : JSON.stringify(value.detail) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Some put the HTTP status here as a number, which says nothing new; our own code says more. */
function codeOf(code: unknown, status: number): Partial<Refusal> {
  if (isText(code)) return { code };
  return typeof code === 'number' && code !== status ? { code: String(code) } : {};
}

function said(message: string, text: string): Partial<Refusal> {
  return text.trim() === '' ? {} : { message: shorten(message) };
}

function shorten(text: string): string {
  return text.length > messageLimit ? `${text.slice(0, messageLimit)}…` : text;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
