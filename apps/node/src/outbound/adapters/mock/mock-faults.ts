import type { ErrorKind, RunFailure } from '@iop/domain';
import type { MockScript } from './mock-script.ts';

/** Each looks to the Edge exactly as if a real upstream had done it. */
export function cutFailure(): RunFailure {
  return fault('upstream.cut', 'the mock cut its answer off, as it was told to');
}

export function malformedFailure(): RunFailure {
  return fault('upstream.malformed', 'the mock sent bytes that are not JSON, as it was told to');
}

/** @param pieces that were given before it: after the first it can no longer be a status */
export function errorFailure(error: NonNullable<MockScript['error']>, pieces: number): RunFailure {
  const { status, message, type, code = null } = error;
  const body = Buffer.from(JSON.stringify({ error: { message, type, param: null, code } }));
  const upstream: RunFailure['upstream'] = { status, body };
  if (error.retry_after_ms !== undefined) upstream.retryAfterMs = error.retry_after_ms;
  return {
    kind: kindOf(status),
    code: pieces === 0 ? 'upstream.status' : 'upstream.error',
    message: `the mock answered ${status}: ${message}`,
    details: { status },
    retryable: error.retryable ?? (status === 429 || status >= 500),
    upstream,
  };
}

export function invalidFailure(code: string, message: string): RunFailure {
  return { kind: 'invalid', code, message, details: {}, retryable: false };
}

function fault(code: string, message: string): RunFailure {
  return { kind: 'unavailable', code, message, details: {}, retryable: true };
}

function kindOf(status: number): ErrorKind {
  if (status === 429) return 'exhausted';
  if (status === 404) return 'not-found';
  if (status === 408 || status === 504) return 'timeout';
  return status >= 500 ? 'unavailable' : 'invalid';
}
