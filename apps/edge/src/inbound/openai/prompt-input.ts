import type { Problem } from '../http/problem.ts';

/** Texts or token arrays: `prompt` of a completion, `input` of embeddings. */
export function checkPromptInput(path: string, value: unknown): Problem | undefined {
  if (typeof value === 'string') return undefined;
  if (!Array.isArray(value)) return { kind: 'type', path, expected: anyInput, got: value };
  if (value.length === 0) return emptyArray(path, 'must hold at least one entry');
  const first = kindOf(value[0]);
  for (let index = 0; index < value.length; index++) {
    const problem = checkEntry(`${path}[${index}]`, value[index], first);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const anyInput = 'a string, or an array of strings, of tokens or of token arrays';

type Kind = 'text' | 'token' | 'tokens' | 'object' | 'none';

const words: Readonly<Record<Kind, string>> = {
  text: 'a string like the first entry',
  token: 'an integer like the first entry',
  tokens: 'an array of tokens like the first entry',
  object: 'an object like the first entry',
  none: 'a string, an integer or an array of integers',
};

function kindOf(entry: unknown): Kind {
  if (typeof entry === 'string') return 'text';
  if (Number.isInteger(entry)) return 'token';
  if (Array.isArray(entry)) return 'tokens';
  // some servers take images this way
  return typeof entry === 'object' && entry !== null ? 'object' : 'none';
}

function checkEntry(path: string, entry: unknown, first: Kind): Problem | undefined {
  const kind = kindOf(entry);
  if (kind === 'none' || kind !== first) return { kind: 'type', path, expected: words[first], got: entry };
  if (!Array.isArray(entry)) return undefined;
  if (entry.length === 0) return emptyArray(path, 'must hold at least one token');
  const at = entry.findIndex((token) => !Number.isInteger(token));
  return at === -1
    ? undefined
    : { kind: 'type', path: `${path}[${at}]`, expected: 'an integer', got: entry[at] };
}

function emptyArray(path: string, rule: string): Problem {
  return { kind: 'value', path, code: 'empty_array', rule };
}
