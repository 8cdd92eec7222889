import type { IncomingMessage } from 'node:http';
import type { EdgeDoor } from '../../core/door.ts';
import type { RunClass } from '../../ports/run-records.ts';
import { invalidRequest, type Refusal } from './refusal.ts';

/** What the head of a request says of how its run lives. */
export interface Wishes {
  kind: 'wishes';
  runClass: RunClass;
  idempotencyKey: string | undefined;
  /** `Last-Event-ID`: the number of the last event that the caller has. */
  afterNumber: number;
}

export type WishesOutcome = Wishes | { kind: 'refused'; refusal: Refusal };

const none: Wishes = { kind: 'wishes', runClass: 'attached', idempotencyKey: undefined, afterNumber: 0 };

export function readWishes(
  { headers }: Pick<IncomingMessage, 'headers'>,
  edge: Pick<EdgeDoor, 'mayStore'>,
): WishesOutcome {
  const disconnect = headers['x-iop-on-disconnect'];
  const key = headers['idempotency-key'];
  const after = headers['last-event-id'];
  if (disconnect === undefined && key === undefined && after === undefined) return none;
  if (disconnect !== undefined && disconnect !== 'cancel' && disconnect !== 'continue')
    return refused('x-iop-on-disconnect is either `cancel` or `continue`.', 'invalid_value');
  const runClass = disconnect === 'continue' ? 'detached' : 'attached';
  if (runClass === 'detached' && !edge.mayStore()) return refused(notStored, 'store_refused');
  if (key !== undefined && (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)))
    return refused('Idempotency-Key is 1 to 255 visible ASCII characters.', 'invalid_idempotency_key');
  const afterNumber = eventNumber(after);
  if (afterNumber === undefined)
    return refused('Last-Event-ID is the `id` of an event of this stream.', 'invalid_value');
  return { kind: 'wishes', runClass, idempotencyKey: key, afterNumber };
}

/** undefined: it is none. */
export function eventNumber(text: string | string[] | undefined): number | undefined {
  if (text === undefined || text === '') return 0;
  return typeof text === 'string' && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

const notStored =
  'This Edge keeps nothing for callers (history.store: refuse), so that no run can outlive its connection.';

function refused(message: string, code: string): WishesOutcome {
  return { kind: 'refused', refusal: invalidRequest(message, code) };
}
