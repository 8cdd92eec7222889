import { type ErrorKind, IopError } from '@iop/domain';

const kindOfCode: Readonly<Record<string, ErrorKind>> = {
  ETIMEDOUT: 'timeout',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
  EADDRINUSE: 'conflict',
  EADDRNOTAVAIL: 'invalid',
  ENOENT: 'unavailable',
};

const wordsOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'this name is unknown',
  EAI_AGAIN: 'names cannot be resolved now',
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not',
  ETIMEDOUT: 'no answer in time',
  ECONNRESET: 'the other side hung up',
};

/** What Node says of a socket, as an `IopError` that says what was tried and on what. */
export function fromNodeError(error: unknown, tried: string, code: string): IopError {
  const cause = unwrap(error);
  const nodeCode = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const kind = kindOfCode[nodeCode] ?? 'unavailable';
  const why = wordsOfCode[nodeCode] ?? (cause instanceof Error ? cause.message : String(cause));
  const message = `${tried}: ${why}${nodeCode === '' ? '' : ` (${nodeCode})`}`;
  return new IopError({ kind, code, message, cause: error });
}

/** Several addresses of one name fail as one AggregateError; the first says enough. */
function unwrap(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;
}
