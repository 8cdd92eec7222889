import { isRunEndState } from '@iop/domain';
import type { Fields } from '../http/problem.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import { findKept, type KeptResponse } from './kept-response.ts';
import { readLog } from './log-reading.ts';
import { namedItems } from './named-items.ts';
import type { ResponseAsk } from './response-ask.ts';
import { responseOfItem } from './response-ids.ts';
import { missingPrevious, previousRuns } from './response-refusals.ts';
import type { Called } from './responses-port.ts';
import { patienceMs } from './snapshot.ts';

export type Gathered =
  | {
      kind: 'gathered';
      /** The items of the request, with what they refer to in its place. */
      items: readonly Fields[];
      /** What was said before them, oldest first. */
      history: readonly Fields[];
    }
  | { kind: 'refused'; refusal: Refusal };

const longestChain = 1000;

/** What a request refers to instead of saying it: the responses before it, single items of them. */
export async function gatherHistory(called: Called, ask: ResponseAsk): Promise<Gathered> {
  const chain = await readChain(called, ask.previousId);
  if ('refusal' in chain) return { kind: 'refused', refusal: chain.refusal };
  const items: Fields[] = [];
  for (const [index, item] of ask.items.entries()) {
    const found = isReference(item) ? await resolve(called, String(item.id), chain.items) : item;
    if (found === undefined) return { kind: 'refused', refusal: missingItem(String(item.id), index) };
    items.push(found);
  }
  return { kind: 'gathered', items, history: chain.items };
}

export function isReference({ type, role, id }: Fields): boolean {
  return type === 'item_reference' || (type === undefined && role === undefined && typeof id === 'string');
}

type Chain = { items: readonly Fields[] } | { refusal: Refusal };

async function readChain(called: Called, previousId: string | undefined): Promise<Chain> {
  const turns: (readonly Fields[])[] = [];
  let sizeBytes = 0;
  for (let id = previousId; id !== undefined; ) {
    const turn = await readTurn(called, id);
    if ('refusal' in turn) return turn;
    sizeBytes += turn.sizeBytes;
    turns.unshift(turn.items);
    if (turns.length > longestChain || sizeBytes > called.port.bodyLimitBytes)
      return { refusal: tooLong(called) };
    id = turn.previousId;
  }
  return { items: turns.flat() };
}

interface Turn {
  items: readonly Fields[];
  sizeBytes: number;
  previousId: string | undefined;
}

async function readTurn(called: Called, id: string): Promise<Turn | { refusal: Refusal }> {
  const kept = await findKept(called.edge, { id, keyId: called.keyId });
  if (kept === undefined) return { refusal: missingPrevious(id) };
  if (!isRunEndState(kept.record.state)) return { refusal: previousRuns(id) };
  const items = await itemsOf(called, kept);
  if ('refusal' in items) return items;
  const { previousId } = kept.identity.ask;
  return { items: items.items, sizeBytes: Buffer.byteLength(JSON.stringify(items.items)), previousId };
}

/** What it was asked and what it answered, every item with its id. */
async function itemsOf(called: Called, kept: KeptResponse): Promise<Chain> {
  const read = await readLog(called, kept, { until: 'end', waitMs: patienceMs });
  if (read.kind === 'broken') return read;
  const input: Fields[] = [];
  for (const item of namedItems(kept.identity)) {
    const found = isReference(item) ? await resolve(called, String(item.id), []) : item;
    if (found !== undefined) input.push(found);
  }
  return { items: [...input, ...(read.writer.toResponse().output as Fields[])] };
}

/** The id of an item says which response it is of. */
async function resolve(
  called: Called,
  itemId: string,
  known: readonly Fields[],
): Promise<Fields | undefined> {
  const here = known.find(({ id }) => id === itemId);
  const responseId = here === undefined ? responseOfItem(itemId) : undefined;
  if (responseId === undefined) return here;
  const kept = await findKept(called.edge, { id: responseId, keyId: called.keyId });
  if (kept === undefined) return undefined;
  const named = namedItems(kept.identity).find(({ id }) => id === itemId);
  if (named !== undefined) return isReference(named) ? undefined : named;
  const read = await readLog(called, kept, { until: 'now', waitMs: patienceMs });
  if (read.kind === 'broken') return undefined;
  return (read.writer.toResponse().output as Fields[]).find(({ id }) => id === itemId);
}

function missingItem(id: string, index: number): Refusal {
  const message = `Item with id '${id.slice(0, 200)}' not found.`;
  return invalidRequest(message, 'item_not_found', `input[${index}].id`);
}

function tooLong({ port }: Called): Refusal {
  const message = `The conversation before this request is longer than ${longestChain} responses or ${port.bodyLimitBytes} bytes; compact it (POST /v1/responses/compact).`;
  return invalidRequest(message, 'previous_responses_too_long', 'previous_response_id');
}
