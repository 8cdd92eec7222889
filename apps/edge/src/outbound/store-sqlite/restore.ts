import type { DatabaseSync } from 'node:sqlite';
import type { RestoredRun } from '../../ports/run-orders.ts';
import type { RunRecord } from '../../ports/run-records.ts';
import { inTransaction } from './database.ts';
import type { OpenAsk } from './messages.ts';
import { holdsOwn } from './segment-bytes.ts';
import type { Tables } from './write-all.ts';

export interface Settled {
  interrupted: number;
  restored: RestoredRun[];
}

/**
 * What an earlier process left without an end: detached runs go on, all others end, and so do their logs. A detached
 * run without its order cannot go on.
 */
export function settleOpenRuns(tables: Tables & { db: DatabaseSync }, ask: OpenAsk): Settled {
  const { runs, logs } = tables;
  let interrupted = 0;
  const restored: RestoredRun[] = [];
  inTransaction(tables.db, 'NORMAL', () => {
    for (const record of runs.open()) {
      const taken = restore(tables, record);
      if (taken !== undefined) {
        restored.push(taken);
        continue;
      }
      runs.interrupt(record.runId, endLog(tables, record, ask.restartedEvent), ask.nowMs);
      interrupted++;
    }
    logs.saveTotal();
  });
  return { interrupted, restored };
}

function restore({ orders, logs }: Tables, record: RunRecord): RestoredRun | undefined {
  const order = record.runClass === 'detached' ? orders.find(record.runId) : undefined;
  if (order === undefined) return undefined;
  const log = logs.find(record.runId);
  const receivedSeq = log !== undefined && log.attempt === record.attempts ? log.lastSeq : 0;
  return { record, order, lastPos: log?.lastPos ?? 0, receivedSeq };
}

/** The pos of its end. */
function endLog({ logs }: Tables, { runId, stored }: RunRecord, event: Uint8Array): number {
  const log = logs.find(runId);
  if (log?.ended) return log.lastPos;
  const pos = (log?.lastPos ?? 0) + 1;
  const head = [runId, Number(stored), pos, 0, 0, 1, 1, 0];
  logs.write([...head, pos, 1, holdsOwn, 0, event.length], event);
  return pos;
}
