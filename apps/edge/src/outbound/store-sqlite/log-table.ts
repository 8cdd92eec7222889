import type { DatabaseSync } from 'node:sqlite';
import type { Cell } from './messages.ts';
import { holdsContent } from './segment-bytes.ts';

/** The logs of runs: a row of `run_logs` each, and segments of events. */
export interface LogTable {
  /** What `pushLogCells` wrote, and the bytes that it points into. */
  write(cells: readonly Cell[], events: Uint8Array): void;
  find(runId: string): LogRow | undefined;
  /** Content of runs that are not kept. */
  readonly totalBytes: number;
  /** Content is gone; the next `saveTotal` says so. */
  subtract(bytes: number): void;
  /** Last in every transaction that changed something. */
  saveTotal(): void;
  /** After a rollback, or when rows were changed by others. */
  forgetCache(): void;
}

export interface LogRow {
  runNo: number;
  kept: boolean;
  lastPos: number;
  attempt: number;
  lastSeq: number;
  ended: boolean;
  bytes: number;
  hasContent: boolean;
}

/** Cells of the head of a run's part, and of each segment behind it. */
export const headCells = 7;
export const segmentCells = 5;

/** Positions beyond have no place in the key of a segment. */
export const posBits = 30;
const cachedLogs = 4096;

export function createLogTable(db: DatabaseSync): LogTable {
  return new SqliteLogs(db);
}

class SqliteLogs implements LogTable {
  totalBytes = 0;
  #isTotalDirty = false;
  readonly #cache = new Map<string, LogRow>();
  readonly #db: DatabaseSync;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#statements = prepare(db);
    this.forgetCache();
  }

  write(cells: readonly Cell[], events: Uint8Array): void {
    for (let at = 0; at < cells.length; ) {
      const end = at + headCells + Number(cells[at + 6]) * segmentCells;
      this.#writeRun(cells, at, { end, events });
      at = end;
    }
  }

  find(runId: string): LogRow | undefined {
    const cached = this.#cache.get(runId);
    if (cached !== undefined) return cached;
    const row = this.#statements.find.get(runId);
    return row === undefined ? undefined : fromLogRow(row);
  }

  subtract(bytes: number): void {
    this.totalBytes -= bytes;
    this.#isTotalDirty = true;
  }

  saveTotal(): void {
    if (this.#isTotalDirty) this.#statements.saveTotal.run(this.totalBytes);
    this.#isTotalDirty = false;
  }

  forgetCache(): void {
    this.#cache.clear();
    this.#isTotalDirty = false;
    this.totalBytes = Number(this.#db.prepare('SELECT bytes FROM content_total').get()?.bytes ?? 0);
  }

  #writeRun(cells: readonly Cell[], head: number, { end, events }: RunPart): void {
    const runId = String(cells[head]);
    const first = head + headCells;
    const known = this.find(runId);
    const log = known ?? this.#insert(runId, Number(cells[head + 1]));
    if (first < end && Number(cells[first]) <= log.lastPos) this.#eraseFrom(log, Number(cells[first]));
    for (let at = first; at < end; at += segmentCells) this.#writeSegment(log, cells, at, events);
    log.lastPos = Math.max(log.lastPos, Number(cells[head + 2]));
    if (Number(cells[head + 3]) > 0) {
      log.attempt = Number(cells[head + 3]);
      log.lastSeq = Number(cells[head + 4]);
    }
    log.ended ||= cells[head + 5] === 1;
    this.#update(log);
    this.#remember(runId, log);
  }

  #insert(runId: string, keptCell: number): LogRow {
    const { insert, keptOf } = this.#statements;
    const kept = keptCell < 0 ? Number(keptOf.get(runId)?.kept ?? 0) : keptCell;
    const runNo = Number(insert.run(runId, kept).lastInsertRowid);
    return {
      runNo,
      kept: kept === 1,
      lastPos: 0,
      attempt: 0,
      lastSeq: 0,
      ended: false,
      bytes: 0,
      hasContent: false,
    };
  }

  #writeSegment(log: LogRow, cells: readonly Cell[], at: number, events: Uint8Array): void {
    const pos = Number(cells[at]);
    if (pos >= 2 ** posBits) return;
    const holds = Number(cells[at + 2]);
    const bytes = events.subarray(Number(cells[at + 3]), Number(cells[at + 4]));
    this.#statements.insertSegment.run(log.runNo, pos, Number(cells[at + 1]), holds, bytes);
    if ((holds & holdsContent) === 0) return;
    log.hasContent = true;
    this.#count(log, bytes.length);
  }

  /** A batch comes again after a thread that died had written it and not said so. */
  #eraseFrom(log: LogRow, pos: number): void {
    const { contentFrom, deleteFrom } = this.#statements;
    this.#count(log, -Number(contentFrom.get(log.runNo, pos)?.bytes ?? 0));
    deleteFrom.run(log.runNo, pos);
  }

  #count(log: LogRow, bytes: number): void {
    log.bytes += bytes;
    if (!log.kept) this.subtract(-bytes);
  }

  #update(log: LogRow): void {
    const { update } = this.#statements;
    const [ended, hasContent] = [Number(log.ended), Number(log.hasContent)];
    update.run(log.lastPos, log.attempt, log.lastSeq, ended, log.bytes, hasContent, log.runNo);
  }

  #remember(runId: string, log: LogRow): void {
    if (log.ended) {
      this.#cache.delete(runId);
      return;
    }
    if (this.#cache.size >= cachedLogs) this.#cache.clear();
    this.#cache.set(runId, log);
  }
}

interface RunPart {
  end: number;
  events: Uint8Array;
}

function prepare(db: DatabaseSync) {
  const range = `id BETWEEN ?1 << ${posBits} | ?2 AND (?1 + 1 << ${posBits}) - 1`;
  return {
    find: db.prepare('SELECT * FROM run_logs WHERE run_id = ?'),
    keptOf: db.prepare(`SELECT run_class = 'detached' OR stored = 1 AS kept FROM runs WHERE run_id = ?`),
    insert: db.prepare(`INSERT INTO run_logs
      (run_id, kept, last_pos, attempt, last_seq, ended, bytes, has_content) VALUES (?, ?, 0, 0, 0, 0, 0, 0)`),
    update: db.prepare(`UPDATE run_logs
      SET last_pos = ?, attempt = ?, last_seq = ?, ended = ?, bytes = ?, has_content = ? WHERE run_no = ?`),
    insertSegment: db.prepare(
      `INSERT OR REPLACE INTO run_segments (id, count, holds, events) VALUES (? << ${posBits} | ?, ?, ?, ?)`,
    ),
    contentFrom: db.prepare(
      `SELECT SUM(length(events)) AS bytes FROM run_segments WHERE ${range} AND holds & ${holdsContent}`,
    ),
    deleteFrom: db.prepare(`DELETE FROM run_segments WHERE ${range}`),
    saveTotal: db.prepare('UPDATE content_total SET bytes = ?'),
  };
}

export function fromLogRow(row: Record<string, unknown>): LogRow {
  return {
    runNo: Number(row.run_no),
    kept: Number(row.kept) === 1,
    lastPos: Number(row.last_pos),
    attempt: Number(row.attempt),
    lastSeq: Number(row.last_seq),
    ended: Number(row.ended) === 1,
    bytes: Number(row.bytes),
    hasContent: Number(row.has_content) === 1,
  };
}
