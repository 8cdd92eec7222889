import type { DatabaseSync } from 'node:sqlite';
import { formatRunId } from '@iop/domain';
import type { LogEraser } from './log-eraser.ts';
import type { LogTable } from './log-table.ts';
import type { PruneBounds } from './messages.ts';
import { claimMs, type OrderTable } from './order-table.ts';
import { prunable, type UsageTable } from './usage-table.ts';

/** Deletes what is old, in bites that hold up writes for milliseconds only. */
export interface Pruner {
  /** One bite, in a transaction of the caller; true: there is more to do. */
  bite(bounds: PruneBounds): boolean;
}

export interface PrunerParts {
  db: DatabaseSync;
  logs: LogTable;
  eraser: LogEraser;
  orders: OrderTable;
  usage: UsageTable;
}

const biteRuns = 1000;
const biteBytes = 8 * 1024 * 1024;
const dayMs = 86_400_000;
/** Of runs whose records are gone the sums of their days are kept so long. */
const usageMs = 400 * dayMs;

export function createPruner(parts: PrunerParts): Pruner {
  return new SqlitePruner(parts);
}

class SqlitePruner implements Pruner {
  readonly #parts: PrunerParts;
  readonly #statements: ReturnType<typeof prepare>;
  /** Records up to this id have been looked at in this sweep. */
  #sweptTo = '';
  /** Logs up to this id have no content any more that counts; live ones may have some again. */
  #strippedTo = '';

  constructor(parts: PrunerParts) {
    this.#parts = parts;
    this.#statements = prepare(parts.db);
  }

  bite(bounds: PruneBounds): boolean {
    const { logs, usage } = this.#parts;
    usage.forgetDaysBefore(Math.floor((bounds.nowMs - usageMs) / dayMs));
    const claims = this.#statements.dropClaims.run(bounds.nowMs - claimMs, biteRuns);
    const more = [
      claims.changes === biteRuns,
      this.#sweepRecords(bounds),
      this.#dropStoredContent(bounds),
      this.#boundContent(bounds),
    ];
    logs.saveTotal();
    logs.forgetCache();
    return more.includes(true);
  }

  /** Looks at the next records of the sweep; true: there are more. */
  #sweepRecords({ nowMs, recordsMs, storedMs }: PruneBounds): boolean {
    const before = firstIdAt(nowMs - recordsMs);
    const keptBefore = firstIdAt(nowMs - Math.max(recordsMs, storedMs));
    const rows = this.#statements.window.all(this.#sweptTo, before, biteRuns).map(toSweepRow);
    let upTo = this.#sweptTo;
    let bytes = 0;
    for (const row of rows) {
      if (isPrunable(row, keptBefore)) {
        if (!this.#eraseLog(row, biteBytes - bytes)) return true;
        bytes += row.bytes;
      }
      upTo = row.runId;
      if (bytes >= biteBytes) break;
    }
    this.#deleteRange(this.#sweptTo, upTo, keptBefore);
    const isWhole = upTo === (rows.at(-1)?.runId ?? upTo) && rows.length < biteRuns;
    this.#sweptTo = isWhole ? '' : upTo;
    return !isWhole;
  }

  #eraseLog(row: SweepRow, limitBytes: number): boolean {
    return !row.hasLog || this.#parts.eraser.erase(row.runId, limitBytes);
  }

  /** A run is in its day's sum from the moment in which its record is gone: counted once, whatever happens. */
  #deleteRange(after: string, upTo: string, keptBefore: string): void {
    if (upTo === after) return;
    this.#parts.usage.rollUp({ after, upTo, keptBefore });
    this.#statements.deleteRuns.run(after, upTo, keptBefore);
    this.#statements.deleteOrders.run(after, upTo);
    this.#statements.deleteClaims.run(after, upTo);
  }

  /** Where content of kept runs is kept for less time than their records. */
  #dropStoredContent({ nowMs, recordsMs, storedMs }: PruneBounds): boolean {
    if (storedMs >= recordsMs) return false;
    const rows = this.#statements.oldOrders.all(firstIdAt(nowMs - storedMs), biteRuns);
    let left = biteBytes;
    for (const row of rows) {
      const runId = String(row.run_id);
      left -= this.#parts.logs.find(runId)?.bytes ?? 0;
      if (!this.#parts.eraser.strip(runId, biteBytes)) return true;
      this.#parts.orders.delete(runId);
      if (left <= 0) return true;
    }
    return rows.length === biteRuns;
  }

  /** The oldest content of attached runs goes until the rest fits. */
  #boundContent({ contentBytes }: PruneBounds): boolean {
    const { logs, eraser } = this.#parts;
    if (logs.totalBytes <= contentBytes) return false;
    let left = biteBytes;
    const rows = this.#statements.oldestLogs.all(this.#strippedTo, biteRuns);
    for (const row of rows) {
      if (logs.totalBytes <= contentBytes) return false;
      if (left <= 0) return true;
      left -= Number(row.bytes);
      const runId = String(row.run_id);
      const isContent = Number(row.kept) === 0 && Number(row.has_content) === 1;
      if (isContent && !eraser.strip(runId, biteBytes)) return true;
      this.#strippedTo = runId;
    }
    if (rows.length === biteRuns) return true;
    this.#strippedTo = '';
    return false;
  }
}

interface SweepRow {
  runId: string;
  isKept: boolean;
  isOpen: boolean;
  hasLog: boolean;
  bytes: number;
}

function isPrunable(row: SweepRow, keptBefore: string): boolean {
  return !row.isOpen && (!row.isKept || row.runId < keptBefore);
}

/** Ids sort by creation: every run before this moment has a smaller one. */
function firstIdAt(timeMs: number): string {
  return formatRunId(Math.max(0, timeMs), new Uint8Array(10));
}

const isKept = `(run_class = 'detached' OR stored = 1)`;

function prepare(db: DatabaseSync) {
  const inRange = 'run_id > ?1 AND run_id <= ?2';
  const orphaned = (table: string) =>
    `DELETE FROM ${table} WHERE ${inRange} AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = ${table}.run_id)`;
  return {
    window: db.prepare(`
      SELECT runs.run_id, ${isKept} AS is_kept, ended_at IS NULL AS is_open, run_no IS NOT NULL AS has_log, bytes
      FROM runs LEFT JOIN run_logs ON run_logs.run_id = runs.run_id
      WHERE runs.run_id > ? AND runs.run_id < ? ORDER BY runs.run_id LIMIT ?`),
    deleteRuns: db.prepare(`DELETE FROM runs WHERE ${prunable}`),
    deleteOrders: db.prepare(orphaned('run_orders')),
    deleteClaims: db.prepare(orphaned('claims')),
    dropClaims: db.prepare(
      'DELETE FROM claims WHERE (scope, key) IN (SELECT scope, key FROM claims WHERE claimed_at <= ? LIMIT ?)',
    ),
    oldOrders: db.prepare(`
      SELECT run_orders.run_id FROM run_orders JOIN runs ON runs.run_id = run_orders.run_id
      WHERE run_orders.run_id < ? AND ended_at IS NOT NULL ORDER BY run_orders.run_id LIMIT ?`),
    oldestLogs: db.prepare(
      'SELECT run_id, kept, has_content, bytes FROM run_logs WHERE run_id > ? ORDER BY run_id LIMIT ?',
    ),
  };
}

function toSweepRow(row: Record<string, unknown>): SweepRow {
  return {
    runId: String(row.run_id),
    isKept: Number(row.is_kept) === 1,
    isOpen: Number(row.is_open) === 1,
    hasLog: Number(row.has_log) === 1,
    bytes: Number(row.bytes ?? 0),
  };
}
