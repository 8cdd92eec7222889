import type { CreateOutcome, OpenOutcome } from '../../core/door.ts';
import type { Refusal } from '../http/refusal.ts';
import { startToRefusal } from '../http/to-http.ts';

/** Why no run was created. */
export function creationToRefusal(
  outcome: Exclude<CreateOutcome, { kind: 'created' | 'repeated' }>,
): Refusal {
  switch (outcome.kind) {
    case 'key-conflict':
      return {
        status: 409,
        message: `The idempotency key was used for another request (${outcome.runId}); use a new one.`,
        type: 'invalid_request_error',
        code: 'idempotency.key-conflict',
        shouldRetry: false,
      };
    case 'store-unavailable':
      return storeUnavailable(outcome.detail);
    default:
      return startToRefusal(outcome);
  }
}

/** Why the log of a run cannot be read. */
export function openToRefusal(outcome: Exclude<OpenOutcome, { kind: 'opened' }>): Refusal {
  if (outcome.kind === 'store-unavailable') return storeUnavailable(outcome.detail);
  return {
    status: 404,
    message: 'The run is not kept any more.',
    type: 'invalid_request_error',
    code: 'run.unknown',
  };
}

function storeUnavailable(detail: string): Refusal {
  return {
    status: 503,
    message: `The run cannot be kept at the moment: ${detail}.`,
    type: 'server_error',
    code: 'store.unavailable',
    retryAfterMs: 2000,
  };
}
