/**
 * The one error class of IOP. Expected outcomes are returned unions; everything else is an `IopError`.
 *
 * `kind` is closed and decides what to do (HTTP status, exit code, retry); `code` is a stable dotted
 * string for programs ("node.link-lost"); `message` is for people: what was tried, on what, what to do.
 */
export const errorKinds = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'not-found',
  'conflict',
  'exhausted',
  'unavailable',
  'timeout',
  'cancelled',
  'unsupported',
  'internal',
] as const;

export type ErrorKind = (typeof errorKinds)[number];

/** Plain data that may cross a boundary: no secrets, no stacks. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>;

export interface IopErrorInit {
  kind: ErrorKind;
  code: string;
  message: string;
  details?: ErrorDetails;
  cause?: unknown;
}

export class IopError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly details: ErrorDetails;

  constructor(init: IopErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'IopError';
    this.kind = init.kind;
    this.code = init.code;
    this.details = init.details ?? {};
  }
}

/** By shape, never `instanceof`: two copies of this package may meet in one process. */
export function isIopError(value: unknown): value is IopError {
  return value instanceof Error && value.name === 'IopError' && 'kind' in value && 'code' in value;
}

export type RetryAdvice = 'never' | 'same' | 'elsewhere';

/** Whether asking again can help, and where. Each row with its why. */
const retryTable: Readonly<Record<ErrorKind, RetryAdvice>> = {
  invalid: 'never', // the same bytes are refused again
  unauthenticated: 'never', // a key does not heal by itself
  forbidden: 'never', // policy, not chance
  'not-found': 'never', // the name is unknown everywhere that was asked
  conflict: 'never', // the caller has to decide which of the two is right
  exhausted: 'elsewhere', // this one is full, another may not be
  unavailable: 'elsewhere', // this one is away, another may be there
  timeout: 'elsewhere', // this one is stuck
  cancelled: 'never', // somebody wanted it to stop
  unsupported: 'never', // it cannot be done by what was asked
  internal: 'never', // a bug repeats
};

export function retryOf(kind: ErrorKind): RetryAdvice {
  return retryTable[kind];
}

/** Anything caught, as an `IopError`; what is not one is a bug and becomes `internal`. */
export function toIopError(reason: unknown): IopError {
  if (isIopError(reason)) return reason;
  const message = reason instanceof Error ? reason.message : String(reason);
  return new IopError({ kind: 'internal', code: 'internal', message, cause: reason });
}
