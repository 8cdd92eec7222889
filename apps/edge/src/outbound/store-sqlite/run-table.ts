import type { DatabaseSync } from 'node:sqlite';
import type { RunQuery, RunRecord } from '../../ports/run-records.ts';
import type { Cell } from './messages.ts';
import { encodeEnd, fromRunRow, runColumns } from './run-row.ts';

export interface RunTable {
  write(cells: readonly Cell[]): void;
  find(runId: string): RunRecord | undefined;
  list(query: RunQuery): RunRecord[];
  /** Ends every open run as `edge.restarted`; how many there were. */
  interrupt(nowMs: number): number;
  /** The last of the oldest `limit` ended runs before that id; undefined: there is none. */
  lastToPrune(before: string, limit: number): string | undefined;
  /** Deletes ended runs up to that id; how many went. */
  prune(upTo: string): number;
}

export function createRunTable(db: DatabaseSync): RunTable {
  const marks = runColumns.map(() => '?').join(', ');
  const upsert = db.prepare(`INSERT OR REPLACE INTO runs (${runColumns.join(', ')}) VALUES (${marks})`);
  const findOne = db.prepare('SELECT * FROM runs WHERE run_id = ?');

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
    interrupt(nowMs) {
      const sql = `UPDATE runs SET state = 'failed', ended_at = ?, end_json = ? WHERE ended_at IS NULL`;
      return Number(db.prepare(sql).run(nowMs, encodeEnd(restarted)).changes);
    },
    lastToPrune(before, limit) {
      const old = 'SELECT run_id FROM runs WHERE run_id < ? AND ended_at IS NOT NULL ORDER BY run_id LIMIT ?';
      const row = db.prepare(`SELECT max(run_id) AS last FROM (${old})`).get(before, limit);
      return typeof row?.last === 'string' ? row.last : undefined;
    },
    prune(upTo) {
      const sql = 'DELETE FROM runs WHERE run_id <= ? AND ended_at IS NOT NULL';
      return Number(db.prepare(sql).run(upTo).changes);
    },
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

const restarted = {
  kind: 'failed',
  failure: {
    kind: 'unavailable',
    code: 'edge.restarted',
    message: 'the Edge stopped while this run was under way; ask again',
    details: {},
    retryable: true,
  },
} as const;
