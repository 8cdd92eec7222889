import type { Created } from '../../ports/run-orders.ts';
import type { DurableTables } from './durable-tables.ts';
import type { LogEraser } from './log-eraser.ts';
import type { LogTable } from './log-table.ts';
import type { CreationCells, StoreWrite } from './messages.ts';
import type { OrderTable } from './order-table.ts';
import type { RunTable } from './run-table.ts';

export interface Tables {
  runs: RunTable;
  logs: LogTable;
  eraser: LogEraser;
  orders: OrderTable;
  durable: DurableTables;
}

/** What one transaction writes. What belongs to one run is given in the order in which it has to be there. */
export function writeAll(tables: Tables, write: StoreWrite): Created[] {
  const { runs, logs, orders, durable } = tables;
  for (const runId of write.discards) discard(tables, runId);
  const created = write.creations.map((creation) => createOne(tables, creation));
  orders.write(write.orders);
  runs.write(write.records);
  if (write.events !== undefined) logs.write(write.logs, write.events);
  for (let at = 0; at < write.stale.length; at += 2) {
    runs.noteStale(String(write.stale[at]), String(write.stale[at + 1]));
  }
  for (const each of write.durable) durable.write(each);
  for (const runId of write.deletions) deleteContent(tables, runId);
  logs.saveTotal();
  return created;
}

function createOne({ runs, orders }: Tables, { record, order, claim }: CreationCells): Created {
  const conflict = claim && orders.conflictOf(claim);
  if (conflict !== undefined) return { kind: 'claimed', ...conflict };
  runs.write(record);
  orders.write(order);
  if (claim !== undefined) orders.claim(String(record[0]), claim);
  return { kind: 'created' };
}

function discard({ runs, orders }: Tables, runId: string): void {
  runs.delete(runId);
  orders.delete(runId);
  orders.deleteClaimsOf(runId);
}

function deleteContent({ runs, orders, eraser }: Tables, runId: string): void {
  eraser.strip(runId);
  orders.delete(runId);
  runs.markDeleted(runId);
}
