import { type ErrorKind, errorKinds } from '@iop/domain';
import type { Failure } from '@iop/wire';
import type { AnswerStyle } from '../http/answer-style.ts';
import type { Refusal } from '../http/refusal.ts';

const statusOf: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  exhausted: 429,
  unavailable: 503,
  timeout: 504,
  cancelled: 409,
  unsupported: 501,
  internal: 500,
};

/** Every error is a Failure of the wire in protobuf JSON. */
export const apiStyle: AnswerStyle = {
  encodeError({ message, code, type, status, retryAfterMs }) {
    const details = retryAfterMs === undefined ? {} : { retryAfterMs: String(Math.ceil(retryAfterMs)) };
    return JSON.stringify({ kind: kindOf(type, status), code: code ?? '', message, details });
  },
};

/** What the port itself refuses has a status and no kind of ours. */
function kindOf(type: string, status: number): ErrorKind {
  const known = errorKinds.find((kind) => kind === type);
  if (known !== undefined) return known;
  return errorKinds.find((kind) => statusOf[kind] === status) ?? (status < 500 ? 'invalid' : 'internal');
}

export function toRefusal({ kind, code, message, details }: Failure): Refusal {
  const known = errorKinds.find((each) => each === kind) ?? 'internal';
  const retryAfterMs = Number(details.retryAfterMs ?? (known === 'unavailable' ? 1000 : Number.NaN));
  const again = Number.isFinite(retryAfterMs) ? { retryAfterMs } : {};
  return { status: statusOf[known], message, type: known, code, ...again };
}

export function refuse(kind: ErrorKind, code: string, message: string): Refusal {
  return { status: statusOf[kind], message, type: kind, code };
}
