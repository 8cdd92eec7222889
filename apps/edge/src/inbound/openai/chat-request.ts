import type { Refusal } from '../http/refusal.ts';
import { parseJsonBody } from './json-body.ts';
import { type Fields, isObject, type Problem, toRefusal, within } from './problem.ts';

/** What the door has to know of a request; everything else travels in the bytes. */
export interface ChatRequest {
  model: string;
  stream: boolean;
  includeUsage: boolean;
}

export type ChatRequestOutcome =
  | { kind: 'request'; request: ChatRequest }
  | { kind: 'refused'; refusal: Refusal };

/**
 * Checks what every upstream would trip over, and no more: unknown fields, roles and kinds of content
 * are for the upstream, which is newer than this code.
 */
export function parseChatRequest(bytes: Uint8Array): ChatRequestOutcome {
  const body = parseJsonBody(bytes);
  if (body.kind === 'refused') return body;
  const problem = findProblem(body.fields);
  if (problem !== undefined) return { kind: 'refused', refusal: toRefusal(problem) };
  return { kind: 'request', request: read(body.fields) };
}

function read({ model, stream, stream_options: options }: Fields): ChatRequest {
  const includeUsage = isObject(options) && options.include_usage === true;
  return { model: String(model), stream: stream === true, includeUsage };
}

function findProblem(body: Fields): Problem | undefined {
  return (
    checkModel(body.model) ??
    checkMessages(body.messages) ??
    optional(body, 'stream', isBoolean) ??
    checkCount(body) ??
    optional(body, 'stream_options', isAnObject) ??
    inObject(body, 'stream_options', (options) => optional(options, 'include_usage', isBoolean)) ??
    optional(body, 'tools', isArray) ??
    inArray(body, 'tools', checkTool) ??
    optional(body, 'tool_choice', isStringOrObject) ??
    optional(body, 'response_format', isAnObject) ??
    inObject(body, 'response_format', (format) => required(format, 'type', isString))
  );
}

function checkModel(model: unknown): Problem | undefined {
  if (model === undefined) return { kind: 'missing', path: 'model' };
  if (typeof model !== 'string') return { kind: 'type', path: 'model', expected: 'a string', got: model };
  if (model !== '') return undefined;
  return { kind: 'value', path: 'model', code: 'invalid_value', rule: 'must not be empty' };
}

function checkMessages(messages: unknown): Problem | undefined {
  if (messages === undefined) return { kind: 'missing', path: 'messages' };
  if (!Array.isArray(messages))
    return { kind: 'type', path: 'messages', expected: 'an array', got: messages };
  if (messages.length > 0) return inArray({ messages }, 'messages', checkMessage);
  return { kind: 'value', path: 'messages', code: 'empty_array', rule: 'must hold at least one message' };
}

function checkMessage(message: unknown): Problem | undefined {
  if (!isObject(message)) return { kind: 'type', path: '', expected: 'an object', got: message };
  return required(message, 'role', isString) ?? optional(message, 'content', isContent);
}

function checkCount(body: Fields): Problem | undefined {
  const problem = optional(body, 'n', isInteger);
  if (problem !== undefined || typeof body.n !== 'number' || body.n >= 1) return problem;
  return { kind: 'value', path: 'n', code: 'integer_below_min_value', rule: 'must be at least 1' };
}

function checkTool(tool: unknown): Problem | undefined {
  if (!isObject(tool)) return { kind: 'type', path: '', expected: 'an object', got: tool };
  const problem = required(tool, 'type', isString);
  if (problem !== undefined || tool.type !== 'function') return problem;
  return (
    required(tool, 'function', isAnObject) ?? inObject(tool, 'function', (f) => required(f, 'name', isString))
  );
}

interface Shape {
  expected: string;
  accepts(value: unknown): boolean;
}

const isString: Shape = { expected: 'a string', accepts: (value) => typeof value === 'string' };
const isBoolean: Shape = { expected: 'a boolean', accepts: (value) => typeof value === 'boolean' };
const isInteger: Shape = { expected: 'an integer', accepts: Number.isInteger };
const isArray: Shape = { expected: 'an array', accepts: Array.isArray };
const isAnObject: Shape = { expected: 'an object', accepts: isObject };
const isStringOrObject: Shape = {
  expected: 'a string or an object',
  accepts: (value) => typeof value === 'string' || isObject(value),
};
const isContent: Shape = {
  expected: 'a string or an array of parts',
  accepts: (value) => typeof value === 'string' || Array.isArray(value),
};

/** Null is what many clients send for a field that they do not set. */
function optional(body: Fields, name: string, shape: Shape): Problem | undefined {
  const value = body[name];
  if (value === undefined || value === null || shape.accepts(value)) return undefined;
  return { kind: 'type', path: name, expected: shape.expected, got: value };
}

function required(body: Fields, name: string, shape: Shape): Problem | undefined {
  const value = body[name];
  if (value === undefined) return { kind: 'missing', path: name };
  return shape.accepts(value)
    ? undefined
    : { kind: 'type', path: name, expected: shape.expected, got: value };
}

function inObject(
  body: Fields,
  name: string,
  check: (value: Fields) => Problem | undefined,
): Problem | undefined {
  const value = body[name];
  return isObject(value) ? within(name, check(value)) : undefined;
}

function inArray(
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
