import type { CancelCause, ErrorKind, RunEnd, RunFailure } from '@iop/domain';
import type { Dialect } from '@iop/runtime';
import type { CreateOutcome, OpenOutcome, StartOutcome } from '../../core/door.ts';
import type { ErrorType, Refusal } from './refusal.ts';
import { readUpstreamError } from './upstream-error.ts';

/**
 * The one place where outcomes of the Edge become HTTP. `again: false` asks clients not to repeat on
 * their own, as the official ones do on 408, 409, 429 and 5xx.
 */
interface Row {
  status: number;
  type: ErrorType;
  again?: false;
  retryAfterMs?: number;
}

const byKind: Readonly<Record<ErrorKind, Row>> = {
  invalid: { status: 400, type: 'invalid_request_error' },
  // the Edge's or the Node's own credentials, never the caller's: that was checked at the door
  unauthenticated: { status: 502, type: 'server_error', again: false },
  forbidden: { status: 403, type: 'permission_error' },
  'not-found': { status: 404, type: 'invalid_request_error' },
  conflict: { status: 409, type: 'invalid_request_error', again: false },
  exhausted: { status: 429, type: 'rate_limit_error', retryAfterMs: 1000 },
  unavailable: { status: 503, type: 'server_error', retryAfterMs: 1000 },
  timeout: { status: 504, type: 'timeout_error' },
  cancelled: { status: 409, type: 'server_error', again: false },
  unsupported: { status: 400, type: 'invalid_request_error' },
  internal: { status: 500, type: 'server_error', again: false },
};

const byCause: Readonly<Record<CancelCause, Row & { message: string }>> = {
  // nobody is there to read it
  caller: { status: 499, type: 'server_error', again: false, message: 'The caller closed the connection.' },
  operator: { status: 409, type: 'server_error', again: false, message: 'An operator cancelled the run.' },
  deadline: { status: 504, type: 'timeout_error', again: false, message: 'The run took longer than it may.' },
  drain: { status: 503, type: 'server_error', retryAfterMs: 1000, message: 'The Node is being drained.' },
  shutdown: { status: 503, type: 'server_error', retryAfterMs: 1000, message: 'The Edge is shutting down.' },
  superseded: {
    status: 409,
    type: 'server_error',
    again: false,
    message: 'A newer run took the place of this one.',
  },
};

/** An upstream's status that says something about the request; every other one is the upstream's own affair. */
const upstreamStatus: Readonly<Record<number, Row>> = {
  400: { status: 400, type: 'invalid_request_error' },
  404: { status: 404, type: 'invalid_request_error' },
  409: { status: 409, type: 'invalid_request_error', again: false },
  413: { status: 413, type: 'invalid_request_error' },
  415: { status: 415, type: 'invalid_request_error' },
  422: { status: 422, type: 'invalid_request_error' },
  408: { status: 504, type: 'timeout_error' },
  429: { status: 429, type: 'rate_limit_error' },
  500: { status: 500, type: 'server_error' },
  503: { status: 503, type: 'server_error' },
  504: { status: 504, type: 'timeout_error' },
};

const badGateway: Row = { status: 502, type: 'server_error' };

/** How far a run had come when it ended badly. */
export interface RunProgress {
  /** Content of it was accepted, so a repeat does the work a second time. */
  hadContent: boolean;
}

export function endToRefusal(end: Exclude<RunEnd, { kind: 'completed' }>, progress: RunProgress): Refusal {
  if (end.kind === 'failed') return failureToRefusal(end.failure, progress);
  const { message, ...row } = byCause[end.by];
  return fill(
    { ...row, ...(progress.hadContent && { again: false }) },
    message,
    `run.cancelled-by-${end.by}`,
  );
}

function failureToRefusal(failure: RunFailure, { hadContent }: RunProgress): Refusal {
  const { upstream } = failure;
  const row = upstream === undefined ? byKind[failure.kind] : (upstreamStatus[upstream.status] ?? badGateway);
  const again = failure.retryable && !hadContent ? {} : { again: false as const };
  if (upstream === undefined) {
    const { retryAfterMs } = failure.details;
    const soon = typeof retryAfterMs === 'number' ? { retryAfterMs } : {};
    return fill({ ...row, ...again, ...soon }, failure.message, failure.code);
  }
  const told = upstream.retryAfterMs === undefined ? {} : { retryAfterMs: upstream.retryAfterMs };
  const refusal = fill({ ...row, ...again, ...told }, failure.message, failure.code);
  // What an upstream says to credentials is not for the caller, who neither sent nor may see them.
  if (row === badGateway && upstream.status < 500) return refusal;
  return { ...refusal, ...readUpstreamError(upstream.body, upstream.status) };
}

function fill({ status, type, again, retryAfterMs }: Row, message: string, code: string): Refusal {
  return {
    status,
    type,
    message,
    code,
    ...(again === false && isRepeated(status) && { shouldRetry: false }),
    ...(again !== false && retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function isRepeated(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

export function startToRefusal(outcome: Exclude<StartOutcome, { kind: 'accepted' }>): Refusal {
  switch (outcome.kind) {
    case 'unknown-target':
      return unknownModel(outcome.asked, outcome.nearest);
    case 'no-node': {
      const message = `The model ${quote(outcome.asked)} has no Node to run on at the moment: ${outcome.detail}.`;
      return {
        ...fill(byKind.unavailable, message, 'node.none'),
        retryAfterMs: outcome.retryAfterMs,
        param: 'model',
      };
    }
    case 'queue-full': {
      const message = `${outcome.limit} requests for ${quote(outcome.asked)} are waiting already; try again later.`;
      return {
        ...fill(byKind.exhausted, message, 'rate_limit_exceeded'),
        retryAfterMs: outcome.retryAfterMs,
      };
    }
    case 'forbidden-target': {
      const message = `This API key (${outcome.keyId}) may not use ${quote(outcome.asked)}; GET /v1/models lists what it may.`;
      return { ...fill(byKind.forbidden, message, 'model_not_allowed'), param: 'model' };
    }
    case 'key-rate': {
      const message = `This API key (${outcome.keyId}) may start ${outcome.limit}; try again later.`;
      return {
        ...fill(byKind.exhausted, message, 'rate_limit_exceeded'),
        retryAfterMs: outcome.retryAfterMs,
      };
    }
    case 'key-busy': {
      const message = `This API key (${outcome.keyId}) has ${outcome.limit} runs at once already, and no more may wait.`;
      return {
        ...fill(byKind.exhausted, message, 'rate_limit_exceeded'),
        retryAfterMs: outcome.retryAfterMs,
      };
    }
    case 'unsupported-dialect': {
      const message = `${quote(outcome.asked)} takes no ${requests[outcome.dialect]} (${outcome.dialect}).`;
      return { ...fill(byKind.unsupported, message, 'unsupported_model'), param: 'model' };
    }
    case 'stopping': {
      const refusal = fill(
        byKind.unavailable,
        'The Edge is shutting down; ask again in a moment.',
        'edge.stopping',
      );
      return { ...refusal, close: true };
    }
  }
}

/** A run that is committed first. */
export function createToRefusal(outcome: Exclude<CreateOutcome, { kind: 'created' | 'repeated' }>): Refusal {
  if (outcome.kind === 'key-conflict') {
    const message = `The Idempotency-Key ${quote(outcome.key)} was used for another request body within the last 24 hours.`;
    return fill(byKind.conflict, message, 'idempotency_key_reused');
  }
  return outcome.kind === 'store-unavailable' ? storeUnavailable(outcome.detail) : startToRefusal(outcome);
}

export function openToRefusal(outcome: Exclude<OpenOutcome, { kind: 'opened' }>): Refusal {
  if (outcome.kind === 'store-unavailable') return storeUnavailable(outcome.detail);
  if (outcome.kind === 'unknown-run') return unknownRun();
  const message = 'The run has ended, and there is nothing after this point.';
  return fill(byKind.invalid, message, 'run.past-end');
}

/** Also what a run of another key looks like. */
export function unknownRun(): Refusal {
  const message = 'There is no such run, or it is not kept any more.';
  return fill(byKind['not-found'], message, 'run_not_found');
}

export function storeUnavailable(detail: string): Refusal {
  const message = `The Edge cannot write to its disk at the moment: ${detail}. Nothing was started; ask again later.`;
  return { ...fill(byKind.unavailable, message, 'store.unavailable'), retryAfterMs: 2000 };
}

const requests: Readonly<Record<Dialect, string>> = {
  'openai.chat': 'chat requests',
  'openai.completions': 'completion requests',
  'openai.embeddings': 'embedding requests',
  'openai.raw': 'requests on paths that only its upstream knows',
  'iop.prompt': 'prompts',
};

export function unknownModel(asked: string, nearest: readonly string[]): Refusal {
  const hint =
    nearest.length === 0
      ? 'GET /v1/models lists what there is'
      : `did you mean ${nearest.map(quote).join(', ')}?`;
  const message = `The model ${quote(asked)} does not exist here; ${hint}`;
  return { status: 404, type: 'invalid_request_error', message, code: 'model_not_found', param: 'model' };
}

/** The run gave something that this door cannot pass on. */
export function badEvent(what: string): Refusal {
  return fill(byKind.internal, `The answer cannot be passed on: ${what}.`, 'answer.unreadable');
}

export function eventTooLarge(): Refusal {
  return fill(
    { ...badGateway, again: false },
    'The upstream sent an event larger than 4 MiB.',
    'upstream.event-too-large',
  );
}

export function answerTooLarge(): Refusal {
  const message = 'The answer is larger than 64 MiB; ask for a stream instead.';
  return fill({ ...badGateway, again: false }, message, 'answer.too-large');
}

/** Names come from callers and may be of any length. */
function quote(name: string): string {
  return `\`${name.length > 200 ? `${name.slice(0, 200)}…` : name}\``;
}
