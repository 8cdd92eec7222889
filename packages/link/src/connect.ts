import { type ErrorKind, IopError, isIopError } from '@iop/domain';
import type { Welcome } from '@iop/wire';
import { type AttemptOutcome, attemptLink, type DialOptions } from './attempt.ts';
import type { Link } from './link.ts';

/**
 * Links once, for a program that asks one thing and leaves.
 * @throws IopError with the kind of what stood in the way: `unavailable` (nobody there), `unauthenticated` and
 *   `forbidden` (token, key, pin), `conflict` (clone), `unsupported` (version), `timeout`, `cancelled`
 */
export async function connectLink(
  options: DialOptions,
  signal: AbortSignal,
): Promise<{ link: Link; welcome: Welcome }> {
  const outcome = await attemptLink(options, signal);
  if (outcome.kind === 'linked') return { link: outcome.link, welcome: outcome.welcome };
  throw toError(outcome);
}

/** What a code of a Reject or of a failed handshake means; unlisted ones are `unavailable`. */
const kindOfCode: Readonly<Record<string, ErrorKind>> = {
  'identity.pin-mismatch': 'forbidden',
  'identity.key-mismatch': 'forbidden',
  'identity.bad-signature': 'unauthenticated',
  'identity.unknown': 'unauthenticated',
  'identity.token-missing': 'unauthenticated',
  'identity.token-wrong': 'unauthenticated',
  'identity.clone': 'conflict',
  'identity.fenced': 'conflict',
  'protocol.version': 'unsupported',
  'protocol.bad-hello': 'invalid',
  'link.handshake-timeout': 'timeout',
  'link.busy': 'exhausted',
  internal: 'internal',
};

function toError(outcome: Exclude<AttemptOutcome, { kind: 'linked' }>): IopError {
  if (outcome.kind === 'aborted') {
    return new IopError({
      kind: 'cancelled',
      code: 'link.cancelled',
      message: 'stopped before the link was made',
    });
  }
  if (outcome.kind === 'failed' && isIopError(outcome.cause)) return outcome.cause;
  const { code } = outcome;
  const kind = kindOfCode[code] ?? 'unavailable';
  if (outcome.kind === 'rejected') {
    const details = outcome.retryAfterMs > 0 ? { retryAfterMs: outcome.retryAfterMs } : {};
    return new IopError({
      kind,
      code,
      message: `the other side refused the link: ${outcome.message}`,
      details,
    });
  }
  return new IopError({ kind, code, message: `no link: ${outcome.reason}`, cause: outcome.cause });
}
