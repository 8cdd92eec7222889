import { parseJsonBody } from '../http/json-body.ts';
import { toRefusal } from '../http/problem.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Wishes } from '../http/run-wishes.ts';
import type { TakenBody } from '../http/take-body.ts';
import { type ResponseAsk, readAsk } from './response-ask.ts';
import { findProblem } from './response-checks.ts';
import { notKept, storeRefused } from './response-refusals.ts';
import type { Called } from './responses-port.ts';

/** A request in which nothing is wrong, on its way to a run. */
export interface CreateRequest {
  kind: 'request';
  called: Called;
  ask: ResponseAsk;
  /** The caller's bytes. */
  bytes: Uint8Array;
  isStored: boolean;
  isDetached: boolean;
  idempotencyKey: string | undefined;
}

/** What its door has read of it. */
export type RequestBody = Pick<TakenBody, 'bytes' | 'wishes'>;

export function readRequest(
  called: Called,
  { bytes, wishes }: RequestBody,
): CreateRequest | { kind: 'refused'; refusal: Refusal } {
  const body = parseJsonBody(bytes);
  if (body.kind === 'refused') return body;
  const problem = findProblem(body.fields);
  if (problem !== undefined) return { kind: 'refused', refusal: toRefusal(problem) };
  const ask = readAsk(body.fields);
  const refusal = refuseKeeping(called, ask);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  if (wishes.runClass === 'detached' && ask.store === false) return { kind: 'refused', refusal: notKept() };
  return toRequest({ called, ask, bytes, wishes });
}

/** Nothing is kept where the operator wants nothing kept; what cannot do without is refused by name. */
function refuseKeeping(
  { edge }: Called,
  { store, background, previousId }: ResponseAsk,
): Refusal | undefined {
  if (edge.mayStore()) return undefined;
  if (background) return storeRefused('background');
  if (previousId !== undefined) return storeRefused('previous_response_id');
  return store === true ? storeRefused('store') : undefined;
}

function toRequest({
  called,
  ask,
  bytes,
  wishes,
}: Pick<CreateRequest, 'called' | 'ask' | 'bytes'> & { wishes: Wishes }): CreateRequest {
  return {
    kind: 'request',
    called,
    ask,
    bytes,
    isStored: ask.store !== false && called.edge.mayStore(),
    isDetached: ask.background || wishes.runClass === 'detached',
    idempotencyKey: wishes.idempotencyKey,
  };
}
