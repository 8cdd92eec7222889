import type { DatabaseSync } from 'node:sqlite';
import type { RunQuery, RunRecord } from '../../ports/run-records.ts';
import type { Cell } from './messages.ts';
import { encodeEnd, fromRunRow, runColumns } from './run-row.ts';

export interface RunTable {
  write(cells: readonly Cell[]): void;
  find(runId: string): RunRecord | undefined;
  list(query: RunQuery): RunRecord[];
  /** Runs without an end, oldest first. */
  open(): RunRecord[];
  /** Ends a run as `edge.restarted`, with its end at that pos of its log. */
  interrupt(runId: string, lastPos: number, nowMs: number): void;
  noteStale(runId: string, words: string): void;
  /** Its content is gone for good. */
  markDeleted(runId: string): void;
  delete(runId: string): void;
}

export function createRunTable(db: DatabaseSync): RunTable {
  const marks = runColumns.map(() => '?').join(', ');
  const columns = runColumns.join(', ');
  const others = runColumns.filter((column) => column !== 'run_id' && column !== 'stale');
  // what a Node said after the end stays, whoever saves the record then
  const upsert = db.prepare(`
    INSERT INTO runs (${columns}) VALUES (${marks}) ON CONFLICT DO UPDATE SET
    ${others.map((column) => `${column} = excluded.${column}`).join(', ')},
    stale = CASE WHEN excluded.stale = '' THEN stale ELSE excluded.stale END`);
  const findOne = db.prepare('SELECT * FROM runs WHERE run_id = ?');
  const interruptOne = db.prepare(
    `UPDATE runs SET state = 'failed', ended_at = ?, end_json = ?, last_pos = ?, stop_cause = NULL WHERE run_id = ?`,
  );
  const stale = db.prepare('UPDATE runs SET stale = ? WHERE run_id = ?');
  const unstore = db.prepare('UPDATE runs SET stored = 0 WHERE run_id = ?');
  const deleteOne = db.prepare('DELETE FROM runs WHERE run_id = ?');

  return {
    write(cells) {
      for (let at = 0; at < cells.length; at += runColumns.length) {
        upsert.run(...cells.slice(at, at + runColumns.length));
      }
    },
    find(runId) {
      const row = findOne.get(runId);
      return row === undefined ? undefined : fromRunRow(row);
    },
    list(query) {
      const { sql, values } = selectOf(query);
      return db
        .prepare(sql)
        .all(...values)
        .map(fromRunRow);
    },
    open: () => db.prepare('SELECT * FROM runs WHERE ended_at IS NULL ORDER BY run_id').all().map(fromRunRow),
    interrupt: (runId, lastPos, nowMs) =>
      void interruptOne.run(nowMs, encodeEnd(restartedEnd), lastPos, runId),
    noteStale: (runId, words) => void stale.run(words, runId),
    markDeleted: (runId) => void unstore.run(runId),
    delete: (runId) => void deleteOne.run(runId),
  };
}

/** Ids sort by creation, so the key is the order. */
function selectOf({ limit, states, before }: RunQuery): { sql: string; values: Cell[] } {
  const conditions: string[] = [];
  const values: Cell[] = [];
  if (states.length > 0) {
    conditions.push(`state IN (${states.map(() => '?').join(', ')})`);
    values.push(...states);
  }
  if (before !== undefined) {
    conditions.push('run_id < ?');
    values.push(before);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return { sql: `SELECT * FROM runs ${where} ORDER BY run_id DESC LIMIT ?`, values: [...values, limit] };
}

/** What became of attached runs that an earlier process left without an end. */
export const restartedEnd = {
  kind: 'failed',
  failure: {
    kind: 'unavailable',
    code: 'edge.restarted',
    message: 'the Edge stopped while this run was under way; ask again',
    details: {},
    retryable: true,
  },
} as const;
