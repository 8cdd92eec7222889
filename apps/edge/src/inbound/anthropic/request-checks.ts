import {
  atLeast,
  checkModel,
  inArray,
  inObject,
  isAnObject,
  isArray,
  isBoolean,
  isString,
  optional,
  required,
} from '../http/field-checks.ts';
import { type Fields, isObject, type Problem } from '../http/problem.ts';
import { checkContent } from './block-checks.ts';
import { threadCode } from './error-style.ts';
import { checkTools } from './tool-checks.ts';

/** What every upstream would trip over, and what cannot be said to one. */
export function findProblem(body: Fields): Problem | undefined {
  return (
    checkThread(body) ??
    findCountProblem(body) ??
    (body.max_tokens === undefined ? { kind: 'missing', path: 'max_tokens' } : undefined) ??
    atLeast(body, 'max_tokens', 1) ??
    optional(body, 'stream', isBoolean) ??
    optional(body, 'stop_sequences', isArray) ??
    inArray(body, 'stop_sequences', checkString) ??
    optional(body, 'metadata', isAnObject)
  );
}

/** Clients that meet this code send the whole conversation from then on. */
function checkThread({ thread }: Fields): Problem | undefined {
  if (thread === undefined || thread === null) return undefined;
  const rule = 'no conversation is kept here; send the whole of it with every request';
  return { kind: 'value', path: 'thread', code: threadCode, rule };
}

/** To count, less has to be there. */
export function findCountProblem(body: Fields): Problem | undefined {
  return (
    checkModel(body.model) ??
    checkSystem(body) ??
    checkMessages(body.messages) ??
    checkTools(body) ??
    optional(body, 'output_config', isAnObject) ??
    inObject(body, 'output_config', (config) => checkFormat(config, 'format')) ??
    checkFormat(body, 'output_format')
  );
}

function checkSystem(body: Fields): Problem | undefined {
  if (body.system === undefined || body.system === null) return undefined;
  return checkContent(body, 'system', 'system');
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
  const { role, content } = message;
  if (role === 'user' || role === 'assistant') {
    return required(message, 'content', isContent) ?? checkContent(message, 'content', role);
  }
  if (role === 'system') return content === undefined ? undefined : checkContent(message, 'content', role);
  const problem = required(message, 'role', isString);
  const rule = 'must be user, assistant or system';
  return problem ?? { kind: 'value', path: 'role', code: 'invalid_value', rule };
}

const isContent = {
  expected: 'a string or an array of blocks',
  accepts: (value: unknown) => typeof value === 'string' || Array.isArray(value),
};

function checkFormat(fields: Fields, name: string): Problem | undefined {
  return (
    optional(fields, name, isAnObject) ??
    inObject(fields, name, (format) => {
      if (format.type === 'json_schema') return required(format, 'schema', isAnObject);
      return { kind: 'value', path: 'type', code: 'unsupported', rule: 'must be json_schema' };
    })
  );
}

function checkString(value: unknown): Problem | undefined {
  if (typeof value === 'string') return undefined;
  return { kind: 'type', path: '', expected: 'a string', got: value };
}
