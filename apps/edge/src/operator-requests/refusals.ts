import type { IopError } from '@iop/domain';
import { type ErrorFacts, type Failure, toFailure } from '@iop/wire';
import type { CreateOutcome, StartOutcome } from '../core/door.ts';

type Refused =
  | Exclude<StartOutcome, { kind: 'accepted' }>
  | Exclude<CreateOutcome, { kind: 'created' | 'repeated' }>;

/** Why a run was not taken, for operators. */
export function toStartFailure(outcome: Refused): Failure {
  const details = 'retryAfterMs' in outcome ? { retryAfterMs: outcome.retryAfterMs } : {};
  return toFailure({ details, ...factsOf(outcome) });
}

function factsOf(outcome: Refused): Omit<ErrorFacts, 'details'> {
  switch (outcome.kind) {
    case 'unknown-target': {
      const near = outcome.nearest.length === 0 ? '' : `; near it: ${outcome.nearest.join(', ')}`;
      const message = `no target ${outcome.asked} is known here${near}; \`iop targets\` lists what there is`;
      return { kind: 'not-found', code: 'target.unknown', message };
    }
    case 'no-node': {
      const message = `nothing can execute ${outcome.asked} now: ${outcome.detail}`;
      return { kind: 'unavailable', code: 'target.no-node', message };
    }
    case 'queue-full': {
      const message = `${outcome.limit} runs wait already; ask for ${outcome.asked} again later`;
      return { kind: 'exhausted', code: 'queue.full', message };
    }
    case 'forbidden-target':
      return {
        kind: 'forbidden',
        code: 'key.target',
        message: `key ${outcome.keyId} may not use ${outcome.asked}`,
      };
    case 'key-rate': {
      const message = `key ${outcome.keyId} may start ${outcome.limit}; ask again later`;
      return { kind: 'exhausted', code: 'key.rate', message };
    }
    case 'key-busy': {
      const message = `key ${outcome.keyId} has ${outcome.limit} runs at once already; ask again later`;
      return { kind: 'exhausted', code: 'key.busy', message };
    }
    case 'unsupported-dialect': {
      const message = `${outcome.asked} takes no request of the dialect ${outcome.dialect}`;
      return { kind: 'unsupported', code: 'target.dialect', message };
    }
    case 'stopping':
      return {
        kind: 'unavailable',
        code: 'edge.stopping',
        message: 'the Edge is stopping; ask again when it is back',
      };
    case 'key-conflict': {
      const message = `the idempotency key ${outcome.key} was used for another request (${outcome.runId}); use a new key`;
      return { kind: 'conflict', code: 'idempotency.conflict', message };
    }
    case 'store-unavailable':
      return storeFacts(outcome.detail);
  }
}

function storeFacts(detail: string): Omit<ErrorFacts, 'details'> {
  const message = `the store of the Edge cannot keep it now: ${detail}; ask again`;
  return { kind: 'unavailable', code: 'store.unavailable', message };
}

export function storeUnavailable(detail: string): Failure {
  return toFailure({ details: {}, ...storeFacts(detail) });
}

export function refusal(kind: IopError['kind'], code: string, message: string): Failure {
  return toFailure({ kind, code, message, details: {} });
}
