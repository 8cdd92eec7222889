import { CursorSource } from './cursor-source.ts';
import { badQuery, showInputItems } from './input-items.ts';
import { findKept, type KeptResponse } from './kept-response.ts';
import { missingResponse, notBackground, notEnded } from './response-refusals.ts';
import { type Called, storeAway } from './responses-port.ts';
import { ownFields } from './show-response.ts';
import { patienceMs, showSnapshot } from './snapshot.ts';
import { StreamedResponse } from './streamed-response.ts';

/** So long a cancel waits for the work to have stopped. After that the answer says that it has not. */
const stopMs = 10_000;

/** `GET /v1/responses/{id}` */
export async function retrieve(called: Called, id: string): Promise<void> {
  const kept = await findOrRefuse(called, id);
  if (kept === undefined) return;
  const query = queryOf(called);
  if (query.get('stream') === 'true') await replay(called, kept, query.get('starting_after'));
  else await showSnapshot(called, kept, { until: 'now', waitMs: patienceMs });
}

/** The same events under the same numbers as at the first time, and then those that come. */
async function replay(called: Called, { identity }: KeptResponse, after: string | null): Promise<void> {
  const { exchange, port } = called;
  const startingAfter = after === null ? -1 : Number(after);
  if (!Number.isSafeInteger(startingAfter) || startingAfter < -1 || after === '')
    return exchange.refuse(badQuery('starting_after', 'must be the sequence_number of an event'));
  const source = new CursorSource({ called, runId: identity.runId, owns: false });
  const { clock, times } = port;
  const fields = ownFields(identity);
  const shared = { exchange, clock, times, identity, startingAfter, withholdsHead: false, fields };
  await source.open((source) => new StreamedResponse({ ...shared, source }));
}

/** `GET /v1/responses/{id}/input_items` */
export async function listInputItems(called: Called, id: string): Promise<void> {
  const kept = await findOrRefuse(called, id);
  if (kept !== undefined) showInputItems(called, kept, queryOf(called));
}

/** `POST /v1/responses/{id}/cancel`. What has ended stays as it ended, so it may be asked again and again. */
export async function cancel(called: Called, id: string): Promise<void> {
  const kept = await findOrRefuse(called, id);
  if (kept === undefined) return;
  const { edge, exchange, keyId } = called;
  if (kept.record.runClass !== 'detached') return exchange.refuse(notBackground());
  const outcome = await edge.cancelRun({ runId: kept.identity.runId, keyId }, 'caller');
  if (outcome.kind === 'store-unavailable') return exchange.refuse(storeAway(outcome.detail));
  if (outcome.kind === 'unknown-run') return exchange.refuse(missingResponse(id));
  await showSnapshot(called, kept, { until: 'end', waitMs: stopMs });
}

/** `DELETE /v1/responses/{id}` */
export async function remove(called: Called, id: string): Promise<void> {
  const kept = await findOrRefuse(called, id);
  if (kept === undefined) return;
  const { edge, exchange, keyId } = called;
  const outcome = await edge.deleteRun({ runId: kept.identity.runId, keyId });
  if (outcome.kind === 'deleted') exchange.json(200, { id, object: 'response', deleted: true });
  else if (outcome.kind === 'not-ended') exchange.refuse(notEnded(id));
  else if (outcome.kind === 'unknown-run') exchange.refuse(missingResponse(id));
  else exchange.refuse(storeAway(outcome.detail));
}

async function findOrRefuse(called: Called, id: string): Promise<KeptResponse | undefined> {
  const kept = await findKept(called.edge, { id, keyId: called.keyId });
  if (kept === undefined) called.exchange.refuse(missingResponse(id));
  return called.exchange.isOver ? undefined : kept;
}

function queryOf({ exchange }: Called): URLSearchParams {
  const { url = '' } = exchange.req;
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
}
