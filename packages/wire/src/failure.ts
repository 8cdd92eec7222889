import { create } from '@bufbuild/protobuf';
import { type ErrorDetails, type ErrorKind, errorKinds, IopError, type RunFailure } from '@iop/domain';
import {
  type Failed,
  FailedSchema,
  type Failure,
  FailureSchema,
  UpstreamAnswerSchema,
} from './gen/iop/wire/v1/run_pb.ts';

/** What crosses of an error: kind, code, message, details; never a cause or a stack. */
export interface ErrorFacts {
  kind: ErrorKind;
  code: string;
  message: string;
  details: ErrorDetails;
}

export function toFailure(error: ErrorFacts): Failure {
  const details: Record<string, string> = {};
  for (const [name, value] of Object.entries(error.details)) details[name] = String(value);
  return create(FailureSchema, { kind: error.kind, code: error.code, message: error.message, details });
}

/** Details come back as text. A kind that this version does not know is `internal`. */
export function fromFailure(failure: Failure | undefined): ErrorFacts {
  if (failure === undefined) {
    return { kind: 'internal', code: 'wire.no-failure', message: 'the peer gave no reason', details: {} };
  }
  const kind = errorKinds.find((known) => known === failure.kind) ?? 'internal';
  return { kind, code: failure.code, message: failure.message, details: { ...failure.details } };
}

export function failureToError(failure: Failure | undefined): IopError {
  return new IopError(fromFailure(failure));
}

/** The longest part of an upstream's own answer that crosses. */
export const maxUpstreamBodyBytes = 48 * 1024;

export function toFailed(failure: RunFailure): Failed {
  const failed = create(FailedSchema, { failure: toFailure(failure), retryable: failure.retryable });
  if (failure.upstream !== undefined) {
    const { status, body, retryAfterMs } = failure.upstream;
    failed.upstream = create(UpstreamAnswerSchema, {
      status,
      body: body.subarray(0, maxUpstreamBodyBytes),
      retryAfterMs: retryAfterMs ?? 0,
    });
  }
  return failed;
}

export function fromFailed(failed: Failed): RunFailure {
  const failure: RunFailure = { ...fromFailure(failed.failure), retryable: failed.retryable };
  if (failed.upstream !== undefined) {
    const { status, body, retryAfterMs } = failed.upstream;
    failure.upstream = retryAfterMs === 0 ? { status, body } : { status, body, retryAfterMs };
  }
  return failure;
}
