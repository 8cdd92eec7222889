import { invalidRequest, type Refusal } from './refusal.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with a value, and where in it. Paths are only put together when there is one. */
export type Problem =
  | { kind: 'missing'; path: string }
  | { kind: 'type'; path: string; expected: string; got: unknown }
  | { kind: 'value'; path: string; code: string; rule: string };

/** @param path of the value in which the problem was found: `messages[3]` */
export function within(path: string, problem: Problem | undefined): Problem | undefined {
  if (problem === undefined) return undefined;
  return { ...problem, path: problem.path === '' ? path : `${path}.${problem.path}` };
}

export function toRefusal(problem: Problem): Refusal {
  const { path } = problem;
  switch (problem.kind) {
    case 'missing':
      return invalidRequest(`Missing required parameter: '${path}'.`, 'missing_required_parameter', path);
    case 'type': {
      const message = `Invalid type for '${path}': expected ${problem.expected}, got ${nameOf(problem.got)}.`;
      return invalidRequest(message, 'invalid_type', path);
    }
    case 'value':
      return invalidRequest(`Invalid '${path}': ${problem.rule}.`, problem.code, path);
  }
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON value as people call it. */
export function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
