import { readStream } from '../../harness/chat.ts';
import type { Outcome } from '../history/ask.ts';
import type { TokenCount } from '../history/script.ts';
import { codeIn } from './caller.ts';

/** What an answer says of itself. */
export function judgeChat(text: string, { status, stream }: { status: number; stream: boolean }): Outcome {
  if (status !== 200) return { kind: 'refused', status, code: codeIn(text) };
  return stream ? judgeStream(text) : judgeWhole(text);
}

export function judgeStream(text: string): Outcome {
  const { content, done, finish, error, usage } = readStream(text);
  if (!done) return { kind: 'broken', content, code: error?.code ?? '', transcript: undefined };
  if (error !== undefined)
    return { kind: 'broken', content, code: 'done-after-error', transcript: undefined };
  const count = usage && { prompt: usage.prompt_tokens, completion: usage.completion_tokens };
  if (finish === undefined)
    return { kind: 'broken', content, code: 'done-without-finish', transcript: undefined };
  return { kind: 'whole', content, usage: count, transcript: undefined };
}

function judgeWhole(text: string): Outcome {
  const answer = JSON.parse(text) as {
    choices?: { message?: { content?: string } }[];
    usage?: { prompt_tokens: number; completion_tokens: number };
  };
  const content = answer.choices?.[0]?.message?.content ?? '';
  const usage: TokenCount | undefined = answer.usage && {
    prompt: answer.usage.prompt_tokens,
    completion: answer.usage.completion_tokens,
  };
  return { kind: 'whole', content, usage, transcript: undefined };
}
