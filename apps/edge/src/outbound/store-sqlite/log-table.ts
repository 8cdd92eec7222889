import type { DatabaseSync } from 'node:sqlite';
import type { LogChain } from './log-chain.ts';
import { fromLogRow, type LogRow, newLogRow } from './log-row.ts';
import type { Cell } from './messages.ts';
import { holdsContent } from './segment-bytes.ts';

/** The logs of runs: a row of `run_logs` each, and a chain of segments. */
export interface LogTable {
  /** Heads and segments, as the encoder writes them, and the bytes that they point into. */
  write(cells: readonly Cell[], events: Uint8Array): void;
  find(runId: string): LogRow | undefined;
  save(log: LogRow): void;
  /** Content of runs that are not kept. */
  readonly totalBytes: number;
  /** Counts content that comes, or goes (below 0). */
  count(log: LogRow, bytes: number): void;
  /** Last in every transaction that changed something. */
  saveTotal(): void;
  /** After a rollback, or when logs were deleted. */
  forgetCache(): void;
}

/**
 * Cells of the head of a run's part: id, kept (-1: look it up), last pos, attempt, last seq, ended, segments, new; and of
 * each segment behind it: first pos, count, what it holds, where its bytes begin and end.
 */
export const headCells = 8;
export const segmentCells = 5;

const cachedLogs = 4096;

export function createLogTable(db: DatabaseSync, chain: LogChain): LogTable {
  return new SqliteLogs(db, chain);
}

class SqliteLogs implements LogTable {
  totalBytes = 0;
  #isTotalDirty = false;
  /** Of runs whose logs have not ended. */
  readonly #cache = new Map<string, LogRow>();
  readonly #db: DatabaseSync;
  readonly #chain: LogChain;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: DatabaseSync, chain: LogChain) {
    this.#db = db;
    this.#chain = chain;
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

  save(log: LogRow): void {
    const { runNo, lastPos, attempt, lastSeq, bytes, segments, lastId, runId } = log;
    const [ended, hasContent] = [Number(log.ended), Number(log.hasContent)];
    const tail = [ended, bytes, hasContent, segments, lastId, runId];
    this.#statements.update.run(runNo, lastPos, attempt, lastSeq, ...tail);
  }

  count(log: LogRow, bytes: number): void {
    log.bytes += bytes;
    if (log.kept) return;
    this.totalBytes += bytes;
    this.#isTotalDirty = true;
  }

  saveTotal(): void {
    if (this.#isTotalDirty) this.#statements.saveTotal.run(this.totalBytes);
    this.#isTotalDirty = false;
  }

  forgetCache(): void {
    this.#cache.clear();
    this.#chain.forgetCache();
    this.#isTotalDirty = false;
    this.totalBytes = Number(this.#db.prepare('SELECT bytes FROM content_total').get()?.bytes ?? 0);
  }

  #writeRun(cells: readonly Cell[], head: number, { end, events }: RunPart): void {
    const runId = String(cells[head]);
    const first = head + headCells;
    const known = cells[head + 7] === 1 ? undefined : this.find(runId);
    const log = known ?? newLogRow(runId, this.#isKept(runId, Number(cells[head + 1])));
    if (first < end && Number(cells[first]) <= log.lastPos) this.#cutFrom(log, Number(cells[first]));
    for (let at = first; at < end; at += segmentCells) this.#writeSegment(log, cells, at, events);
    noteHead(log, cells, head);
    if (known === undefined) this.#insert(log);
    else this.save(log);
    this.#remember(log);
  }

  #isKept(runId: string, cell: number): boolean {
    return (cell < 0 ? Number(this.#statements.keptOf.get(runId)?.kept ?? 0) : cell) === 1;
  }

  #insert(log: LogRow): void {
    const { runId, runNo, lastPos, attempt, lastSeq, bytes, segments, lastId } = log;
    const [kept, ended, hasContent] = [Number(log.kept), Number(log.ended), Number(log.hasContent)];
    const tail = [ended, bytes, hasContent, segments, lastId];
    this.#statements.insert.run(runId, runNo, kept, lastPos, attempt, lastSeq, ...tail);
  }

  #writeSegment(log: LogRow, cells: readonly Cell[], at: number, events: Uint8Array): void {
    const holds = Number(cells[at + 2]);
    const bytes = events.subarray(Number(cells[at + 3]), Number(cells[at + 4]));
    this.#chain.append(log, {
      firstPos: Number(cells[at]),
      count: Number(cells[at + 1]),
      holds,
      events: bytes,
    });
    if ((holds & holdsContent) === 0) return;
    log.hasContent = true;
    this.count(log, bytes.length);
  }

  /** A batch comes again, because a thread that died had written it and not said so. */
  #cutFrom(log: LogRow, pos: number): void {
    const table = this.#chain.tableOf(log);
    for (;;) {
      const row = log.lastId === 0 ? undefined : table.get(log.lastId);
      if (row === undefined || row.runNo !== log.runNo || row.firstPos < pos) break;
      table.delete(row.id);
      if (row.holds & holdsContent) this.count(log, -row.sizeBytes);
      log.lastId = row.previous;
    }
    this.#chain.dropMarks(log, pos);
  }

  #remember(log: LogRow): void {
    if (log.ended) {
      this.#cache.delete(log.runId);
      return;
    }
    if (this.#cache.size >= cachedLogs) this.#cache.clear();
    this.#cache.set(log.runId, log);
  }
}

interface RunPart {
  end: number;
  events: Uint8Array;
}

function noteHead(log: LogRow, cells: readonly Cell[], head: number): void {
  log.lastPos = Math.max(log.lastPos, Number(cells[head + 2]));
  if (Number(cells[head + 3]) > 0) {
    log.attempt = Number(cells[head + 3]);
    log.lastSeq = Number(cells[head + 4]);
  }
  log.ended ||= cells[head + 5] === 1;
}

function prepare(db: DatabaseSync) {
  return {
    find: db.prepare('SELECT * FROM run_logs WHERE run_id = ?'),
    keptOf: db.prepare(`SELECT run_class = 'detached' OR stored = 1 AS kept FROM runs WHERE run_id = ?`),
    insert: db.prepare(`INSERT OR REPLACE INTO run_logs
      (run_id, run_no, kept, last_pos, attempt, last_seq, ended, bytes, has_content, segments, last_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    update:
      db.prepare(`UPDATE run_logs SET run_no = ?, last_pos = ?, attempt = ?, last_seq = ?, ended = ?, bytes = ?,
      has_content = ?, segments = ?, last_id = ? WHERE run_id = ?`),
    saveTotal: db.prepare('UPDATE content_total SET bytes = ?'),
  };
}
