import type { ErrorKind, RunFailure } from '@iop/domain';

/** How far a call had come when its connection broke. */
export type CallPhase = 'connecting' | 'waiting' | 'answering';

/** What undici or a socket reports, as the failure of a run: the one mapper of this boundary. */
export function failureOfConnection(error: unknown, where: string, phase: CallPhase): RunFailure {
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (phase === 'connecting' && code === 'ETIMEDOUT')) {
    return fault('timeout', 'upstream.connect-timeout', `${where} did not accept a connection in time`, code);
  }
  if (code === forbiddenHostCode)
    return fault('forbidden', 'upstream.host-forbidden', messageOf(error), code);
  if (error instanceof Error && error.name === 'HTTPParserError') {
    return fault(
      'unavailable',
      'upstream.malformed',
      `${where} did not answer in HTTP: ${messageOf(error)}`,
      code,
    );
  }
  if (phase === 'connecting') {
    const message = `cannot connect to ${where}: ${messageOf(error)}; is the server running there?`;
    return fault('unavailable', 'upstream.unreachable', message, code);
  }
  if (phase === 'waiting') {
    return fault('unavailable', 'upstream.closed', `${where} closed the connection before it answered`, code);
  }
  return cutFailure(where, messageOf(error));
}

/** The answer stopped before its end. Retried only before any content reached a reader. */
export function cutFailure(where: string, detail: string): RunFailure {
  return fault('unavailable', 'upstream.cut', `${where} cut the answer off: ${detail}`);
}

export function silenceFailure(where: string, silentMs: number, phase: CallPhase): RunFailure {
  const seconds = Math.round(silentMs / 100) / 10;
  return phase === 'answering'
    ? fault(
        'timeout',
        'upstream.stalled',
        `${where} stopped in the middle of its answer, silent for ${seconds} s`,
      )
    : fault('timeout', 'upstream.first-byte-timeout', `${where} did not begin to answer within ${seconds} s`);
}

/** Thrown by the connector; see host-guard. */
export const forbiddenHostCode = 'IOP_FORBIDDEN_HOST';

export function fault(kind: ErrorKind, code: string, message: string, cause = ''): RunFailure {
  const retryable = kind === 'unavailable' || kind === 'timeout';
  return { kind, code, message, details: cause === '' ? {} : { cause }, retryable };
}

/** The first code in the chain of causes. */
export function codeOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at instanceof AggregateError && at.errors[0] instanceof Error) return codeOf(at.errors[0]);
  }
  return '';
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
