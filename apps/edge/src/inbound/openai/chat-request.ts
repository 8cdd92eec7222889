import {
  atLeast,
  checkModel,
  checkStreaming,
  type FieldKind,
  inArray,
  inObject,
  isAnObject,
  isArray,
  isString,
  isStringOrObject,
  optional,
  required,
} from '../http/field-checks.ts';
import { type Fields, isObject, type Problem } from '../http/problem.ts';
import { parseRequest } from './request-fields.ts';
import type { RequestOutcome } from './run-shape.ts';

/** Unknown fields, roles and kinds of content are for the upstream. */
export function parseChatRequest(bytes: Uint8Array): RequestOutcome {
  return parseRequest(bytes, findProblem);
}

function findProblem(body: Fields): Problem | undefined {
  return (
    checkModel(body.model) ??
    checkMessages(body.messages) ??
    checkStreaming(body) ??
    atLeast(body, 'n', 1) ??
    optional(body, 'tools', isArray) ??
    inArray(body, 'tools', checkTool) ??
    optional(body, 'tool_choice', isStringOrObject) ??
    optional(body, 'response_format', isAnObject) ??
    inObject(body, 'response_format', (format) => required(format, 'type', isString))
  );
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

function checkTool(tool: unknown): Problem | undefined {
  if (!isObject(tool)) return { kind: 'type', path: '', expected: 'an object', got: tool };
  const problem = required(tool, 'type', isString);
  if (problem !== undefined || tool.type !== 'function') return problem;
  return (
    required(tool, 'function', isAnObject) ?? inObject(tool, 'function', (f) => required(f, 'name', isString))
  );
}

const isContent: FieldKind = {
  expected: 'a string or an array of parts',
  accepts: (value) => typeof value === 'string' || Array.isArray(value),
};
