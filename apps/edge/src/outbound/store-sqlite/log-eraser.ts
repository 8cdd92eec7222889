import type { DatabaseSync } from 'node:sqlite';
import { type LogTable, posBits } from './log-table.ts';
import { endOfEvent, holdsContent, holdsOwn, isOwnAt } from './segment-bytes.ts';
import { withoutUpstreamBody } from './upstream-body.ts';

/** Takes content, or all, out of logs. Called in a transaction. */
export interface LogEraser {
  /**
   * Deletes the content of a run, oldest first, and leaves the Edge's own events.
   * @returns bytes that are left to delete, because more than `limitBytes` were there
   */
  strip(runId: string, limitBytes?: number): number;
  /** Deletes the whole log; what is left of it as above. */
  erase(runId: string, limitBytes?: number): number;
}

const rowsAtOnce = 1000;

export function createLogEraser(db: DatabaseSync, logs: LogTable): LogEraser {
  const inRun = `id >= ?1 << ${posBits} AND id < ?1 + 1 << ${posBits}`;
  const pos = `id & ${2 ** posBits - 1} AS pos`;
  const content = db.prepare(
    `SELECT ${pos}, holds, length(events) AS size FROM run_segments WHERE ${inRun} AND holds & ${holdsContent} ORDER BY id LIMIT ${rowsAtOnce}`,
  );
  const events = db.prepare(`SELECT events FROM run_segments WHERE id = ? << ${posBits} | ?`);
  const remove = db.prepare(`DELETE FROM run_segments WHERE id = ? << ${posBits} | ?`);
  const removeAll = db.prepare(`DELETE FROM run_segments WHERE ${inRun}`);
  const insert = db.prepare(
    `INSERT INTO run_segments (id, count, holds, events) VALUES (? << ${posBits} | ?, 1, ${holdsOwn}, ?)`,
  );
  const update = db.prepare('UPDATE run_logs SET bytes = ?, has_content = ? WHERE run_no = ?');
  const removeLog = db.prepare('DELETE FROM run_logs WHERE run_no = ?');

  /** The own events among others, each in a segment of its own. */
  function keepOwn(runNo: number, first: number, bytes: Uint8Array): void {
    for (let [at, index] = [0, 0]; at < bytes.length; index++) {
      const end = endOfEvent(bytes, at);
      if (isOwnAt(bytes, at)) insert.run(runNo, first + index, withoutUpstreamBody(bytes.subarray(at, end)));
      at = end;
    }
  }

  /** One segment of content; its bytes. */
  function stripSegment(runNo: number, row: Record<string, unknown>): number {
    const first = Number(row.pos);
    const holding = Number(row.holds) & holdsOwn ? events.get(runNo, first) : undefined;
    remove.run(runNo, first);
    if (holding !== undefined) keepOwn(runNo, first, holding.events as Uint8Array);
    return Number(row.size);
  }

  function stripSome(runNo: number, limitBytes: number): { gone: number; more: boolean } {
    let gone = 0;
    let rows = content.all(runNo);
    while (rows.length > 0) {
      for (const row of rows) {
        if (gone >= limitBytes) return { gone, more: true };
        gone += stripSegment(runNo, row);
      }
      rows = content.all(runNo);
    }
    return { gone, more: false };
  }

  function strip(runId: string, limitBytes = Number.POSITIVE_INFINITY): number {
    const log = logs.find(runId);
    if (log === undefined || !log.hasContent) return 0;
    const { gone, more } = stripSome(log.runNo, limitBytes);
    const left = more ? Math.max(1, log.bytes - gone) : 0;
    if (!log.kept) logs.subtract(log.bytes - left);
    log.bytes = left;
    log.hasContent = more;
    update.run(left, Number(more), log.runNo);
    return left;
  }

  return {
    strip,
    erase(runId, limitBytes) {
      const left = strip(runId, limitBytes);
      const log = left === 0 ? logs.find(runId) : undefined;
      if (log === undefined) return left;
      removeAll.run(log.runNo);
      removeLog.run(log.runNo);
      return 0;
    },
  };
}
