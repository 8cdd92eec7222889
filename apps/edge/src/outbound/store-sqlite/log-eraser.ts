import type { DatabaseSync } from 'node:sqlite';
import type { LogChain } from './log-chain.ts';
import type { LogRow } from './log-row.ts';
import type { LogTable } from './log-table.ts';
import { endOfEvent, holdsContent, holdsOwn, isOwnAt } from './segment-bytes.ts';
import type { SegmentRow, SegmentTable } from './segment-table.ts';
import { withoutUpstreamBody } from './upstream-body.ts';

/** Takes content, or all, out of logs, oldest first. Called in a transaction. */
export interface LogEraser {
  /** Deletes the content of a run and leaves the Edge's own events. False: more than `limitBytes`, some is left. */
  strip(runId: string, limitBytes?: number): boolean;
  /** Deletes the whole log. False as above. */
  erase(runId: string, limitBytes?: number): boolean;
}

export function createLogEraser(db: DatabaseSync, logs: LogTable, chain: LogChain): LogEraser {
  const removeLog = db.prepare('DELETE FROM run_logs WHERE run_id = ?');

  /** What is left of a segment: itself, part of it, or nothing. */
  function stripOne(log: LogRow, row: SegmentRow): 'left' | 'gone' {
    const table = chain.tableOf(log);
    const isOwn = (row.holds & holdsOwn) !== 0;
    if (row.holds & holdsContent) {
      logs.count(log, -row.sizeBytes);
      if (isOwn) keepOwn(table, row);
      else table.delete(row.id);
    }
    return isOwn ? 'left' : 'gone';
  }

  /** So much for now: what is gone is found by no mark any more. */
  function pause(log: LogRow, next: SegmentRow): false {
    chain.dropMarks(log, 0, next.firstPos);
    logs.save(log);
    return false;
  }

  /** What stays is linked anew around what goes. */
  function stripAll(log: LogRow, limitBytes: number): boolean {
    let [goneBytes, lastLeft, isCut] = [0, 0, false];
    for (const row of chain.from(log, 1)) {
      if (isCut) chain.tableOf(log).relink(row.id, lastLeft);
      if (goneBytes >= limitBytes) return pause(log, row);
      isCut = stripOne(log, row) === 'gone';
      if (!isCut) lastLeft = row.id;
      goneBytes += row.holds & holdsContent ? row.sizeBytes : 0;
    }
    log.lastId = lastLeft;
    log.hasContent = false;
    chain.dropMarks(log, 0);
    logs.save(log);
    return true;
  }

  function strip(runId: string, limitBytes = Number.POSITIVE_INFINITY): boolean {
    const log = logs.find(runId);
    return log === undefined || !log.hasContent || stripAll(log, limitBytes);
  }

  function erase(runId: string, limitBytes = Number.POSITIVE_INFINITY): boolean {
    const log = logs.find(runId);
    if (log === undefined) return true;
    let goneBytes = 0;
    for (const row of chain.from(log, 1)) {
      if (goneBytes >= limitBytes) return pause(log, row);
      if (row.holds & holdsContent) logs.count(log, -row.sizeBytes);
      chain.tableOf(log).delete(row.id);
      goneBytes += row.sizeBytes;
    }
    chain.dropMarks(log, 0);
    removeLog.run(runId);
    return true;
  }

  return { strip, erase };
}

function keepOwn(table: SegmentTable, { id, left }: SegmentRow): void {
  const bytes = table.events(id);
  const places: number[] = [];
  const own: Uint8Array[] = [];
  for (let [at, index] = [0, 0]; at < bytes.length; index++) {
    const end = endOfEvent(bytes, at);
    if (isOwnAt(bytes, at)) {
      places.push(left?.[index] ?? index);
      own.push(withoutUpstreamBody(bytes.subarray(at, end)));
    }
    at = end;
  }
  table.rewrite(id, places, Buffer.concat(own));
}
