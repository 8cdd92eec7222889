import type { CancelCause, RunEnd, RunFailure } from '@iop/domain';
import type { AnswerError } from '../../dialects/answer-part.ts';
import type { Fields } from '../http/problem.ts';
import { endToRefusal } from '../http/to-http.ts';
import type { ResponseStatus } from './response-object.ts';

/** How a response ends, and the event that says it. */
export interface Outcome {
  status: Extract<ResponseStatus, 'completed' | 'incomplete' | 'failed' | 'cancelled'>;
  event: 'response.completed' | 'response.incomplete' | 'response.failed';
  error?: { code: string; message: string };
  incomplete?: 'max_output_tokens' | 'content_filter';
  own?: Fields;
}

export function outcomeOf(end: RunEnd): Outcome {
  if (end.kind === 'completed') return completed(end.finish);
  if (end.kind === 'cancelled' && isWish(end.by)) return cancelled(end.by);
  const { message, code, retryAfterMs } = endToRefusal(end, { hadContent: true });
  const failure = end.kind === 'failed' ? end.failure : undefined;
  const word = errorWord(code ?? '', failure);
  return failed(word, withWait(message, word, retryAfterMs ?? waitOf(failure)), code ?? word);
}

/** The answer itself cannot be passed on, however its run ends. */
export function brokenEnd({ message, code }: AnswerError): Outcome {
  const own = code === '' ? 'upstream.error' : code;
  return failed(errorWord(own, undefined), message, own);
}

function completed(finish: string): Outcome {
  if (finish === 'length')
    return { status: 'incomplete', event: 'response.incomplete', incomplete: 'max_output_tokens' };
  if (finish === 'content-filter')
    return { status: 'incomplete', event: 'response.incomplete', incomplete: 'content_filter' };
  return { status: 'completed', event: 'response.completed' };
}

/** Somebody wanted it; everything else that ends a run early is a failure to who waits for it. */
function isWish(by: CancelCause): boolean {
  return by === 'caller' || by === 'operator' || by === 'superseded';
}

/** There is no event for it in the published stream; this one ends it without looking whole. */
function cancelled(by: CancelCause): Outcome {
  return { status: 'cancelled', event: 'response.failed', own: { cancelled_by: by } };
}

function failed(code: string, message: string, own: string): Outcome {
  return { status: 'failed', event: 'response.failed', error: { code, message }, own: { error_code: own } };
}

/** Published words, and those that agents act upon though they are not published. */
const known: ReadonlySet<string> = new Set([
  'server_error',
  'rate_limit_exceeded',
  'invalid_prompt',
  'context_length_exceeded',
  'insufficient_quota',
]);

function errorWord(code: string, failure: RunFailure | undefined): string {
  if (known.has(code)) return code;
  const status = failure?.upstream?.status;
  if (failure?.kind === 'exhausted' || status === 429) return 'rate_limit_exceeded';
  const isRefused = failure?.kind === 'invalid' || failure?.kind === 'unsupported';
  return isRefused || status === 400 || status === 422 ? 'invalid_prompt' : 'server_error';
}

function waitOf(failure: RunFailure | undefined): number | undefined {
  const { retryAfterMs } = failure?.details ?? {};
  return failure?.upstream?.retryAfterMs ?? (typeof retryAfterMs === 'number' ? retryAfterMs : undefined);
}

/** Agents read the time to wait out of these words. */
function withWait(message: string, word: string, waitMs: number | undefined): string {
  if (word !== 'rate_limit_exceeded' || waitMs === undefined) return message;
  return `${message} Try again in ${Math.ceil(waitMs / 1000)}s.`;
}
