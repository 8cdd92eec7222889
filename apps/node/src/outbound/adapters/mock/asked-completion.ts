import type { ExecutionSpec } from '@iop/runtime';
import { type Asked, countWords, plain, readBody, readTexts, toCount } from './asked.ts';

/** Every prompt gets its choices, and all of them say what the last one asks for. */
export function readCompletion(spec: ExecutionSpec): Asked | string {
  const body = readBody(spec);
  if (typeof body === 'string') return body;
  const texts = readTexts(body.prompt);
  if (texts === undefined || texts.length > 128)
    return 'prompt: expected a text or tokens, or up to 128 of them';
  return {
    ...plain,
    prompt: texts.at(-1) ?? '',
    promptTokens: texts.reduce((sum, one) => sum + countWords(one), 0),
    choices: toCount(body.n, 128) ?? 1,
    prompts: texts.length,
    maxTokens: toCount(body.max_tokens, 1_000_000),
    echo: body.echo === true,
  };
}
