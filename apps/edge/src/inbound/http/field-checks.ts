import { type Fields, isObject, type Problem, within } from './problem.ts';

/** A kind of value, in words and as a test. */
export interface FieldKind {
  expected: string;
  accepts(value: unknown): boolean;
}

export const isString: FieldKind = { expected: 'a string', accepts: (value) => typeof value === 'string' };
export const isBoolean: FieldKind = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };
export const isInteger: FieldKind = { expected: 'an integer', accepts: Number.isInteger };
export const isArray: FieldKind = { expected: 'an array', accepts: Array.isArray };
export const isAnObject: FieldKind = { expected: 'an object', accepts: isObject };
export const isStringOrObject: FieldKind = {
  expected: 'a string or an object',
  accepts: (value) => typeof value === 'string' || isObject(value),
};
/** Null is what many clients send for a field that they do not set. */
export function optional(body: Fields, name: string, kind: FieldKind): Problem | undefined {
  const value = body[name];
  if (value === undefined || value === null || kind.accepts(value)) return undefined;
  return { kind: 'type', path: name, expected: kind.expected, got: value };
}

export function required(body: Fields, name: string, kind: FieldKind): Problem | undefined {
  const value = body[name];
  if (value === undefined) return { kind: 'missing', path: name };
  return kind.accepts(value) ? undefined : { kind: 'type', path: name, expected: kind.expected, got: value };
}

export function inObject(
  body: Fields,
  name: string,
  check: (value: Fields) => Problem | undefined,
): Problem | undefined {
  const value = body[name];
  return isObject(value) ? within(name, check(value)) : undefined;
}

export function inArray(
  body: Fields,
  name: string,
  check: (item: unknown) => Problem | undefined,
): Problem | undefined {
  const items = body[name];
  if (!Array.isArray(items)) return undefined;
  for (let index = 0; index < items.length; index++) {
    const problem = check(items[index]);
    if (problem !== undefined) return within(`${name}[${index}]`, problem);
  }
  return undefined;
}

export function checkModel(model: unknown): Problem | undefined {
  if (model === undefined) return { kind: 'missing', path: 'model' };
  if (typeof model !== 'string') return { kind: 'type', path: 'model', expected: 'a string', got: model };
  if (model !== '') return undefined;
  return { kind: 'value', path: 'model', code: 'invalid_value', rule: 'must not be empty' };
}

export function atLeast(body: Fields, name: string, minimum: number): Problem | undefined {
  const value = body[name];
  const problem = optional(body, name, isInteger);
  if (problem !== undefined || typeof value !== 'number' || value >= minimum) return problem;
  const rule = `must be at least ${minimum}`;
  return { kind: 'value', path: name, code: 'integer_below_min_value', rule };
}

/** `stream` and `stream_options`, the same wherever there are streams. */
export function checkStreaming(body: Fields): Problem | undefined {
  return (
    optional(body, 'stream', isBoolean) ??
    optional(body, 'stream_options', isAnObject) ??
    inObject(body, 'stream_options', (options) => optional(options, 'include_usage', isBoolean))
  );
}
