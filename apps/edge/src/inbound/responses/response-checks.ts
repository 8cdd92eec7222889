import {
  checkModel,
  type FieldKind,
  inArray,
  inObject,
  isAnObject,
  isArray,
  isBoolean,
  isInteger,
  isString,
  isStringOrObject,
  optional,
  required,
} from '../http/field-checks.ts';
import { type Fields, isObject, type Problem } from '../http/problem.ts';

/** What is wrong with the fields of a request; what is in its items is looked at when they are translated. */
export function findProblem(body: Fields): Problem | undefined {
  return (
    checkModel(body.model) ??
    checkInput(body) ??
    checkKinds(body) ??
    checkNumbers(body) ??
    inArray(body, 'tools', checkTool) ??
    inObject(body, 'text', checkText) ??
    checkUnserved(body) ??
    checkBackground(body)
  );
}

function checkInput({ input, previous_response_id: previous }: Fields): Problem | undefined {
  if (input !== undefined && input !== null) return checkSomeInput(input);
  return typeof previous === 'string' ? undefined : { kind: 'missing', path: 'input' };
}

function checkSomeInput(input: unknown): Problem | undefined {
  if (typeof input === 'string') return undefined;
  if (!Array.isArray(input))
    return { kind: 'type', path: 'input', expected: 'a string or an array of items', got: input };
  return inArray({ input }, 'input', (item) =>
    isObject(item) ? undefined : { kind: 'type', path: '', expected: 'an object', got: item },
  );
}

const kinds: readonly (readonly [string, FieldKind])[] = [
  ['stream', isBoolean],
  ['background', isBoolean],
  ['store', isBoolean],
  ['parallel_tool_calls', isBoolean],
  ['instructions', isString],
  ['previous_response_id', isString],
  ['user', isString],
  ['safety_identifier', isString],
  ['prompt_cache_key', isString],
  ['service_tier', isString],
  ['tools', isArray],
  ['include', isArray],
  ['tool_choice', isStringOrObject],
  ['text', isAnObject],
  ['reasoning', isAnObject],
  ['metadata', isAnObject],
  ['stream_options', isAnObject],
  ['max_tool_calls', isInteger],
];

function checkKinds(body: Fields): Problem | undefined {
  for (const [name, kind] of kinds) {
    const problem = optional(body, name, kind);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkNumbers(body: Fields): Problem | undefined {
  return (
    isWithin(body, 'temperature', [0, 2]) ??
    isWithin(body, 'top_p', [0, 1]) ??
    isWithin(body, 'presence_penalty', [-2, 2]) ??
    isWithin(body, 'frequency_penalty', [-2, 2]) ??
    optional(body, 'top_logprobs', isInteger) ??
    isWithin(body, 'top_logprobs', [0, 20]) ??
    optional(body, 'max_output_tokens', isInteger) ??
    isWithin(body, 'max_output_tokens', [1, Number.MAX_SAFE_INTEGER])
  );
}

const isNumber: FieldKind = { expected: 'a number', accepts: (value) => typeof value === 'number' };

function isWithin(body: Fields, name: string, [least, most]: readonly [number, number]): Problem | undefined {
  const value = body[name];
  const problem = optional(body, name, isNumber);
  if (problem !== undefined || typeof value !== 'number') return problem;
  if (value < least)
    return { kind: 'value', path: name, code: 'below_min_value', rule: `must be at least ${least}` };
  return value <= most
    ? undefined
    : { kind: 'value', path: name, code: 'above_max_value', rule: `must be at most ${most}` };
}

function checkTool(tool: unknown): Problem | undefined {
  if (!isObject(tool)) return { kind: 'type', path: '', expected: 'an object', got: tool };
  const problem = required(tool, 'type', isString);
  if (problem !== undefined || !named.has(String(tool.type))) return problem;
  return (
    required(tool, 'name', isString) ??
    optional(tool, 'parameters', isAnObject) ??
    (tool.type === 'namespace' ? required(tool, 'tools', isArray) : undefined) ??
    inArray(tool, 'tools', checkTool)
  );
}

const named: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);

function checkText({ format }: Fields): Problem | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) return { kind: 'type', path: 'format', expected: 'an object', got: format };
  const problem = required(format, 'type', isString);
  if (problem !== undefined) return { ...problem, path: `format.${problem.path}` };
  if (format.type === 'text' || format.type === 'json_object') return undefined;
  if (format.type !== 'json_schema')
    return {
      kind: 'value',
      path: 'format.type',
      code: 'invalid_value',
      rule: "must be 'text', 'json_object' or 'json_schema'",
    };
  const missing = required(format, 'name', isString) ?? required(format, 'schema', isAnObject);
  return missing && { ...missing, path: `format.${missing.path}` };
}

/** What asks for something that is kept at OpenAI and not here. */
function checkUnserved(body: Fields): Problem | undefined {
  for (const name of ['conversation', 'prompt']) {
    if (body[name] === undefined || body[name] === null) continue;
    const rule = `there are no ${name}s here; send instructions and input, or previous_response_id`;
    return { kind: 'value', path: name, code: 'unsupported_value', rule };
  }
  return undefined;
}

function checkBackground({ background, store }: Fields): Problem | undefined {
  if (background !== true || store !== false) return undefined;
  const rule = 'background requires store: the answer has to be kept until it is fetched';
  return { kind: 'value', path: 'background', code: 'invalid_value', rule };
}
