import { type Fields, isSet, type ProblemList } from './problem-list.ts';

interface OptionRow {
  /** In the request. */
  from: string;
  /** In Ollama's `options`. */
  to: string;
  type: 'number' | 'integer';
}

/** Later rows win: `max_completion_tokens` is the newer name. */
const optionRows: readonly OptionRow[] = [
  { from: 'max_tokens', to: 'num_predict', type: 'integer' },
  { from: 'max_completion_tokens', to: 'num_predict', type: 'integer' },
  { from: 'temperature', to: 'temperature', type: 'number' },
  { from: 'top_p', to: 'top_p', type: 'number' },
  { from: 'top_k', to: 'top_k', type: 'integer' },
  { from: 'min_p', to: 'min_p', type: 'number' },
  { from: 'typical_p', to: 'typical_p', type: 'number' },
  { from: 'seed', to: 'seed', type: 'integer' },
  { from: 'presence_penalty', to: 'presence_penalty', type: 'number' },
  { from: 'frequency_penalty', to: 'frequency_penalty', type: 'number' },
  { from: 'repetition_penalty', to: 'repeat_penalty', type: 'number' },
  { from: 'repeat_penalty', to: 'repeat_penalty', type: 'number' },
];

/** How to sample and when to stop, as Ollama's `options`. */
export function toOllamaOptions(body: Fields, problems: ProblemList): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const row of optionRows) {
    const value = body[row.from];
    if (!isSet(value)) continue;
    const expected = expectedOf(row, value);
    if (expected === undefined) options[row.to] = value;
    else problems.invalid(row.from, expected);
  }
  const stop = toStop(body.stop, problems);
  return stop === undefined ? options : { ...options, stop };
}

/** Undefined: the value is as it should be. */
function expectedOf({ to, type }: OptionRow, value: unknown): string | undefined {
  if (type === 'number') return Number.isFinite(value) ? undefined : 'a number';
  if (!Number.isSafeInteger(value)) return 'an integer';
  // Ollama means "without end" by -1, which nobody means who asks for tokens.
  return to === 'num_predict' && (value as number) < 1 ? 'at least 1' : undefined;
}

function toStop(stop: unknown, problems: ProblemList): string[] | undefined {
  if (!isSet(stop)) return undefined;
  const list: unknown[] = Array.isArray(stop) ? stop : [stop];
  if (list.every((word) => typeof word === 'string')) return list.length === 0 ? undefined : list;
  problems.invalid('stop', 'a string or an array of strings');
  return undefined;
}
