import type { Creation } from '../../ports/run-orders.ts';
import type { RunRecord } from '../../ports/run-records.ts';
import type { Cell, CreationCells, DurableWrite, StoreWrite } from './messages.ts';
import { buffersOf, toOrderCells } from './order-row.ts';
import type { PendingRun } from './pending-run.ts';
import { pushRunCells } from './run-row.ts';
import type { SegmentEncoder } from './segment-encoder.ts';

/** What one transaction is made of, as the writer has it. */
export interface WritePlan {
  runs: readonly PendingRun[];
  discards: readonly string[];
  creations: readonly Creation[];
  durable: readonly DurableWrite[];
  deletions: readonly string[];
}

export interface EncodedWrite {
  write: StoreWrite;
  /** Moved to the thread instead of copied. */
  buffers: ArrayBuffer[];
}

export function toWrite(
  plan: WritePlan,
  encoder: SegmentEncoder,
  spare: Uint8Array<ArrayBuffer> | undefined,
): EncodedWrite {
  const { runs, discards, durable, deletions } = plan;
  const creations = plan.creations.map(toCreationCells);
  const [records, orders, stale]: [Cell[], Cell[], string[]] = [[], [], []];
  encoder.begin(
    runs.reduce((sum, run) => sum + run.sizeBytes, 0),
    spare,
  );
  for (const run of runs) {
    if (run.record !== undefined) pushRunCells(records, run.record);
    if (run.order !== undefined) orders.push(...toOrderCells(run.order));
    if (run.stale !== undefined) stale.push(run.runId, run.stale);
    encoder.add(run, keptOf(run.record));
  }
  const { logs, events } = encoder.end();
  const full =
    creations.length + durable.length + deletions.length > 0 || runs.some((run) => run.isWaitedFor);
  const write = { full, discards, creations, orders, records, logs, events, stale, durable, deletions };
  const buffers = [...buffersOf(orders), ...creations.flatMap(({ order }) => buffersOf(order))];
  if (events !== undefined) buffers.push(events.buffer);
  return { write, buffers };
}

function toCreationCells({ record, order, claim }: Creation): CreationCells {
  const cells: Cell[] = [];
  pushRunCells(cells, record);
  return { record: cells, order: toOrderCells(order), claim };
}

function keptOf(record: RunRecord | undefined): number {
  if (record === undefined) return -1;
  return Number(record.runClass === 'detached' || record.stored);
}
