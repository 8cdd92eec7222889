import type { EdgeDoor } from '../../core/door.ts';
import type { RunOrder } from '../../ports/run-orders.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HttpPort } from '../http/http-port.ts';
import { invalidRequest } from '../http/refusal.ts';
import { eventNumber } from '../http/run-wishes.ts';
import { showRun } from '../http/start-kept.ts';
import { storeUnavailable, unknownRun } from '../http/to-http.ts';
import { createAnswer } from './create-answer.ts';
import type { RunShape } from './run-shape.ts';

export interface KeptRunDeps {
  port: HttpPort;
  edge: Pick<EdgeDoor, 'open' | 'runOrder' | 'cancelRun'>;
  shape: RunShape;
}

export interface KeptRunRef {
  runId: string;
  keyId: string;
}

/** Shows a run that was kept, as it was asked for, from the beginning or after `Last-Event-ID`. */
export async function showKept(
  { port, edge, shape }: KeptRunDeps,
  exchange: Exchange,
  { runId, keyId }: KeptRunRef,
): Promise<void> {
  const afterNumber = eventNumber(exchange.req.headers['last-event-id']);
  if (afterNumber === undefined) {
    exchange.refuse(invalidRequest('Last-Event-ID is the `id` of an event of this stream.', 'invalid_value'));
    return;
  }
  const order = await findOrder(edge, exchange, { runId, keyId });
  if (order === undefined || exchange.isOver) return;
  if (order.dialect !== shape.dialect) return exchange.refuse(unknownRun());
  const answer = createAnswer({ port, exchange, shape, intent: intentOf(order), afterNumber });
  await showRun({ edge, exchange, port }, { answer, runId, keyId });
}

function intentOf({ select, stream, includeUsage, raw }: RunOrder) {
  return { select, stream, includeUsage, ...(raw !== undefined && { raw }) };
}

/** Asks for the stop of a run that does not end with its connection. */
export async function cancelKept(
  { edge }: Pick<KeptRunDeps, 'edge'>,
  exchange: Exchange,
  ref: KeptRunRef,
): Promise<void> {
  const outcome = await edge.cancelRun(ref, 'caller');
  if (outcome.kind === 'unknown-run') exchange.refuse(unknownRun());
  else if (outcome.kind === 'store-unavailable') exchange.refuse(storeUnavailable(outcome.detail));
  else exchange.json(200, { id: ref.runId, object: 'iop.run', status: outcome.state });
}

/** undefined: the caller was told. */
async function findOrder(
  edge: Pick<EdgeDoor, 'runOrder'>,
  exchange: Exchange,
  ref: KeptRunRef,
): Promise<RunOrder | undefined> {
  try {
    const order = await edge.runOrder(ref);
    if (order === undefined) exchange.refuse(unknownRun());
    return order;
  } catch (reason) {
    exchange.refuse(storeUnavailable(reason instanceof Error ? reason.message : String(reason)));
    return undefined;
  }
}
