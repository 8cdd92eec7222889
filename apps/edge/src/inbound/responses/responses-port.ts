import type { EdgeDoor } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import type { Refusal } from '../http/refusal.ts';

/** What every route of this door has. */
export interface ResponsesPort {
  port: HttpPort;
  edge: EdgeDoor;
}

/** A request whose caller is known. */
export interface Called extends ResponsesPort {
  exchange: Exchange;
  keyId: string;
}

/** Answers later; what goes wrong meanwhile becomes an answer, too. */
export function answerLater({ port, exchange }: Called, answer: () => Promise<void>): void {
  answer().catch((reason: unknown) => {
    if (isUnavailable(reason) && !exchange.hasBegun) exchange.refuse(storeAway(reason.message));
    else
      port.guard(exchange, () => {
        throw reason;
      });
  });
}

function isUnavailable(reason: unknown): reason is Error {
  return reason instanceof Error && 'kind' in reason && reason.kind === 'unavailable';
}

/** Nothing was started and nothing is lost: the same request may come again. */
export function storeAway(detail: string): Refusal {
  return {
    status: 503,
    message: `The store of this Edge does not answer: ${detail}`,
    type: 'server_error',
    code: 'store.unavailable',
    retryAfterMs: 2000,
  };
}
