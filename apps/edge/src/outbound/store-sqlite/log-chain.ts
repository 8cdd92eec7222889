import type { DatabaseSync } from 'node:sqlite';
import type { LogRow } from './log-row.ts';
import { createSegmentTable, type SegmentRow, type SegmentTable } from './segment-table.ts';

/**
 * The segments of one run in their order, although they lie scattered: each knows the one before it, and every
 * `markEvery`th is found by its pos. So a place in a log is at most that many look-ups away.
 */
export interface LogChain {
  /** Where the segments of that run lie. */
  tableOf(log: LogRow): SegmentTable;
  /** From the segment that holds that pos, or the next one, on. What it has given may be deleted meanwhile. */
  from(log: LogRow, pos: number): Generator<SegmentRow>;
  /** Puts a segment behind the others. */
  append(log: LogRow, segment: { firstPos: number; count: number; holds: number; events: Uint8Array }): void;
  /** Forgets the marks of segments that are gone: from a pos on, up to another. */
  dropMarks(log: LogRow, fromPos: number, untilPos?: number): void;
  forgetCache(): void;
}

export const markEvery = 64;

export function createLogChain(db: DatabaseSync): LogChain {
  const attached = createSegmentTable(db, 'attached_segments');
  const kept = createSegmentTable(db, 'kept_segments');
  const addMark = db.prepare('INSERT OR REPLACE INTO run_marks (run_no, first_pos, id) VALUES (?, ?, ?)');
  const nextMark = db.prepare(
    'SELECT first_pos, id FROM run_marks WHERE run_no = ? AND first_pos > ? ORDER BY first_pos LIMIT 1',
  );
  const dropMarks = db.prepare('DELETE FROM run_marks WHERE run_no = ? AND first_pos >= ? AND first_pos < ?');
  const tableOf = (log: LogRow) => (log.kept ? kept : attached);

  /** From the segment at or before `pos` up to the one with that id. */
  function walkBack(log: LogRow, anchorId: number, pos: number): SegmentRow[] {
    const found: SegmentRow[] = [];
    for (let id = anchorId; id !== 0; ) {
      const row = tableOf(log).get(id);
      // deleted, or deleted and its id used again
      if (row === undefined || row.runNo !== log.runNo || row.firstPos + row.count <= pos) break;
      found.push(row);
      id = row.firstPos <= pos ? 0 : row.previous;
    }
    return found.reverse();
  }

  return {
    tableOf,
    *from(log, start) {
      for (let pos = start; ; ) {
        const mark = nextMark.get(log.runNo, pos);
        const found = walkBack(log, Number(mark?.id ?? log.lastId), pos);
        yield* found;
        if (mark === undefined) return;
        const last = found.at(-1);
        pos = last === undefined ? Number(mark.first_pos) : last.firstPos + last.count;
      }
    },
    append(log, segment) {
      const table = tableOf(log);
      if (log.runNo === 0) log.runNo = log.kept ? -table.nextId : table.nextId;
      const id = table.append({ runNo: log.runNo, previous: log.lastId, ...segment });
      if (++log.segments % markEvery === 0) addMark.run(log.runNo, segment.firstPos, id);
      log.lastId = id;
    },
    dropMarks(log, fromPos, untilPos = Number.MAX_SAFE_INTEGER) {
      if (log.segments >= markEvery) dropMarks.run(log.runNo, fromPos, untilPos);
    },
    forgetCache() {
      attached.forgetCache();
      kept.forgetCache();
    },
  };
}
