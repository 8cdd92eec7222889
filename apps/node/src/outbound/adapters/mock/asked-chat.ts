import type { ExecutionSpec } from '@iop/runtime';
import { type Asked, countWords, plain, readBody, toCount } from './asked.ts';

export function readChat(spec: ExecutionSpec): Asked | string {
  const body = readBody(spec);
  if (typeof body === 'string') return body;
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0)
    return 'messages: expected a list of at least one message';
  const texts = messages.map(textOf);
  const lastUser = messages.findLastIndex((message) => message?.role === 'user');
  return {
    ...plain,
    prompt: texts[lastUser === -1 ? texts.length - 1 : lastUser] ?? '',
    promptTokens: texts.reduce((sum, one) => sum + countWords(one), 0),
    choices: toCount(body.n, 128) ?? 1,
    maxTokens: toCount(body.max_completion_tokens ?? body.max_tokens, 1_000_000),
    hasToolResult: messages.at(-1)?.role === 'tool',
  };
}

/** Content is a text, or a list of parts some of which are text. */
function textOf(message: { content?: unknown } | null): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('');
}
