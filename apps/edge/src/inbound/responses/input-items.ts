import type { Fields } from '../http/problem.ts';
import { invalidRequest, type Refusal } from '../http/refusal.ts';
import type { KeptResponse } from './kept-response.ts';
import { namedItems } from './named-items.ts';
import type { Called } from './responses-port.ts';

/** `GET /v1/responses/{id}/input_items`: what the response itself was asked, newest first unless asked otherwise. */
export function showInputItems(
  { exchange }: Called,
  { identity }: KeptResponse,
  query: URLSearchParams,
): void {
  const page = readPage(query);
  const list = 'refusal' in page ? page : listPage(namedItems(identity), page);
  if ('refusal' in list) exchange.refuse(list.refusal);
  else exchange.json(200, list.list);
}

function listPage(items: Fields[], { limit, order, after }: Page): { list: Fields } | { refusal: Refusal } {
  if (order === 'desc') items.reverse();
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) return { refusal: badQuery('after', 'is no item of this response') };
  const data = items.slice(start, start + limit);
  return { list: toList(data, start + data.length < items.length) };
}

interface Page {
  limit: number;
  order: string;
  after: string | null;
}

function readPage(query: URLSearchParams): Page | { refusal: Refusal } {
  const limit = Number(query.get('limit') ?? 20);
  const order = query.get('order') ?? 'desc';
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    return { refusal: badQuery('limit', 'must be an integer from 1 to 100') };
  if (order !== 'asc' && order !== 'desc') return { refusal: badQuery('order', "must be 'asc' or 'desc'") };
  return { limit, order, after: query.get('after') };
}

function toList(data: readonly Fields[], hasMore: boolean): Fields {
  const first = data[0]?.id ?? '';
  const last = data.at(-1)?.id ?? '';
  return { object: 'list', data, first_id: first, last_id: last, has_more: hasMore };
}

export function badQuery(name: string, rule: string): Refusal {
  return invalidRequest(`Invalid '${name}': it ${rule}.`, 'invalid_value', name);
}
