import type { Dialect, RawRequest } from '@iop/runtime';
import type { RunSelect } from '../../core/door.ts';
import type { RunOrder } from '../../ports/run-orders.ts';
import type { Cell } from './messages.ts';

/** Columns of `run_orders` in the order of a row's cells. */
export const orderColumns = [
  'run_id',
  'select_json',
  'dialect',
  'stream',
  'include_usage',
  'raw_json',
  'deadline_ms',
  'body',
  'asked',
] as const;

/** Bytes are copied: the caller's may be a view of something large, which would cross threads whole. */
export function toOrderCells(order: RunOrder): Cell[] {
  return [
    order.runId,
    JSON.stringify(order.select),
    order.dialect,
    Number(order.stream),
    Number(order.includeUsage),
    order.raw === undefined ? null : JSON.stringify(order.raw),
    order.deadlineMs,
    new Uint8Array(order.body),
    order.asked === undefined ? null : new Uint8Array(order.asked),
  ];
}

export function fromOrderRow(row: Record<string, unknown>): RunOrder {
  return {
    runId: String(row.run_id),
    select: JSON.parse(String(row.select_json)) as RunSelect,
    dialect: String(row.dialect) as Dialect,
    body: row.body as Uint8Array,
    stream: Number(row.stream) === 1,
    includeUsage: Number(row.include_usage) === 1,
    raw: typeof row.raw_json === 'string' ? (JSON.parse(row.raw_json) as RawRequest) : undefined,
    deadlineMs: Number(row.deadline_ms),
    asked: row.asked === null ? undefined : (row.asked as Uint8Array),
  };
}

/** The buffers that may be moved instead of copied. */
export function buffersOf(cells: readonly Cell[]): ArrayBuffer[] {
  return cells
    .filter((cell) => cell instanceof Uint8Array)
    .map((bytes) => bytes.buffer as ArrayBuffer)
    .filter((buffer) => buffer.byteLength > 0);
}
