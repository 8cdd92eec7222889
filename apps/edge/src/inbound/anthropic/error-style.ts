import type { AnswerStyle } from '../http/answer-style.ts';
import type { Refusal } from '../http/refusal.ts';

/** What Anthropic clients branch on beside the status. */
const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** What is asked for cannot be had with a conversation that the server keeps. */
export const threadCode = 'thread_unsupported_request';

export const anthropicStyle: AnswerStyle = {
  encodeError: encodeAnthropicError,
  requestIdHeader: 'request-id',
};

/** `{type: "error", error, request_id}`; `details.error_code` is the code that other doors give. */
export function encodeAnthropicError(refusal: Refusal, requestId: string): string {
  const { code, param } = refusal;
  const details = {
    ...(code !== null && { error_code: code }),
    ...(param !== undefined && { param }),
    ...(code === threadCode && { unsupported: ['thread'] }),
  };
  const error = {
    type: typeOf(refusal.status),
    message: messageOf(refusal),
    ...(Object.keys(details).length > 0 && { details }),
  };
  return JSON.stringify({ type: 'error', error, request_id: requestId });
}

function typeOf(status: number): string {
  return types[status] ?? (status >= 500 || status === 499 ? 'api_error' : 'invalid_request_error');
}

const tooLong = /context[ _](length|size|window)|maximum context|prompt is too long/i;

/** By these words, and by nothing else, clients see that they have to shorten the conversation. */
function messageOf({ status, message, code }: Refusal): string {
  const isTooLong = status === 400 && (code === 'context_length_exceeded' || tooLong.test(message));
  return isTooLong && !message.startsWith('prompt is too long') ? `prompt is too long: ${message}` : message;
}
