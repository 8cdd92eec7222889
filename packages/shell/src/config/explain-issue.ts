import type { z } from 'zod';

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'keys and values',
  record: 'keys and values',
};

const secretNames = /token|secret|password|key$/i;

/** What was expected at a key and what stood there, in words. */
export function explainIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const expected = expectationOf(issue);
  if (value === undefined) return `missing; ${expected}`;
  return secretNames.test(String(issue.path.at(-1))) ? expected : `${expected}, got ${quote(value)}`;
}

function expectationOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeWords[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${oneOf(issue.values)}`;
    case 'invalid_union':
      return unionExpectation(issue);
    case 'too_small':
      return `expected ${bound(issue.origin, 'at least', issue.minimum)}`;
    case 'too_big':
      return `expected ${bound(issue.origin, 'at most', issue.maximum)}`;
    default:
      return issue.message;
  }
}

function unionExpectation(issue: z.core.$ZodIssueInvalidUnion): string {
  const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
  if (options.length > 0) return `expected ${oneOf(options)}`;
  return issue.errors.flatMap(([first]) => (first === undefined ? [] : [expectationOf(first)])).join(', or ');
}

function oneOf(values: readonly unknown[]): string {
  const words = values.map(String);
  return words.length === 1 ? words.join('') : `one of ${words.join(', ')}`;
}

function bound(origin: string, words: string, limit: number | bigint): string {
  if (origin === 'string') return `${words} ${limit} characters`;
  if (origin === 'array') return `${words} ${limit} entries`;
  return `${words} ${limit}`;
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
