import { runIdTimeMs } from '@iop/domain';
import type { EdgeDoor } from '../../core/door.ts';
import type { RunOrder } from '../../ports/run-orders.ts';
import type { RunRecord } from '../../ports/run-records.ts';
import { parseJsonBody } from '../http/json-body.ts';
import type { Fields } from '../http/problem.ts';
import { foreignFields } from './foreign-fields.ts';
import { readAsk } from './response-ask.ts';
import { toResponseId, toRunId } from './response-ids.ts';
import type { ResponseIdentity } from './response-object.ts';

/** A response that can be asked for by its id. */
export interface KeptResponse {
  identity: ResponseIdentity;
  record: RunRecord;
}

export interface KeptRef {
  id: string;
  keyId: string;
}

/**
 * Undefined: unknown, somebody else's, not kept, or deleted.
 *
 * @throws IopError of kind `unavailable`
 */
export async function findKept(edge: EdgeDoor, { id, keyId }: KeptRef): Promise<KeptResponse | undefined> {
  const runId = toRunId(id);
  if (runId === undefined) return undefined;
  const record = await edge.findRun({ runId, keyId });
  if (record === undefined || !isKept(record)) return undefined;
  const order = await edge.runOrder({ runId, keyId });
  if (order === undefined) return undefined;
  const fields = fieldsOf(record, order);
  const isWhole = !order.stream;
  return fields && { record, identity: { ...identityOf(runId, fields, true), isWhole } };
}

/** `store: false` is kept from everybody, even while it runs. */
function isKept({ stored, runClass }: RunRecord): boolean {
  return stored || runClass === 'detached';
}

function fieldsOf(record: RunRecord, order: RunOrder): Fields | undefined {
  if (record.door !== 'openai' || order.asked === undefined) return foreignFields(record, order);
  const body = parseJsonBody(order.asked);
  return body.kind === 'object' ? body.fields : undefined;
}

export function identityOf(runId: string, fields: Fields, isStored: boolean): ResponseIdentity {
  const createdAtS = Math.floor(runIdTimeMs(runId) / 1000);
  return { id: toResponseId(runId), runId, createdAtS, isStored, ask: readAsk(fields) };
}
