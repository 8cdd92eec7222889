import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Clock, IopError, isIopError } from '@iop/domain';
import type { EpochStore } from '../../ports/epoch-store.ts';
import type { Log } from '../../ports/log.ts';
import {
  type RunCompletion,
  type RunRecord,
  type RunStart,
  type RunStore,
  toRecordedEnd,
} from '../../ports/run-store.ts';
import { fromRow, insertSql, toRow } from './row.ts';
import { prepareSchema } from './schema.ts';

export interface SqliteRunStoreOptions {
  file: string;
  clock: Clock;
  log: Log;
  /** Newest runs that are kept. */
  maxRuns?: number;
}

const writeWithinMs = 50;
const retryAfterMs = 1_000;
/** While the disk refuses, so many are held; older ones are given up. */
const maxWaiting = 5_000;

/**
 * The history in one SQLite file. What is given within 50 ms is written in one transaction, a run that
 * began and ended meanwhile as one row, so that the relay never waits for a statement of its own.
 *
 * @throws IopError `store.newer`, `store.unusable`
 */
export function openSqliteRunStore(options: SqliteRunStoreOptions): SqliteRunStore {
  return new SqliteRunStore(options);
}

export class SqliteRunStore implements RunStore, EpochStore {
  readonly #options: SqliteRunStoreOptions;
  readonly #maxRuns: number;
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #trim: StatementSync;
  #starts = new Map<string, RunStart>();
  #completions = new Map<string, RunCompletion>();
  #isArmed = false;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: SqliteRunStoreOptions) {
    this.#options = options;
    this.#maxRuns = options.maxRuns ?? 10_000;
    this.#db = open(options.file);
    this.#insert = this.#db.prepare(insertSql);
    this.#update = this.#db.prepare(updateSql);
    this.#trim = this.#db.prepare('DELETE FROM runs WHERE seq <= (SELECT max(seq) FROM runs) - ?');
    this.#db.prepare(orphanSql).run(options.clock.wall());
  }

  get lastEpoch(): number {
    const row = this.#db.prepare("SELECT value FROM facts WHERE name = 'last_epoch'").get();
    return Number(row?.value ?? 0);
  }

  rememberEpoch(epoch: number): void {
    try {
      this.#db
        .prepare("INSERT OR REPLACE INTO facts VALUES ('last_epoch', max(?, ?))")
        .run(epoch, this.lastEpoch);
    } catch (error) {
      this.#complain(error);
    }
  }

  startRun(run: RunStart): void {
    this.#starts.set(keyOf(run), run);
    this.#arm(writeWithinMs);
  }

  completeRun(run: RunCompletion): void {
    this.#completions.set(keyOf(run), run);
    this.#arm(writeWithinMs);
  }

  recent(limit: number): readonly RunRecord[] {
    this.flush();
    return this.#db.prepare('SELECT * FROM runs ORDER BY seq DESC LIMIT ?').all(limit).map(fromRow);
  }

  flush(): void {
    if (this.#starts.size + this.#completions.size === 0) return;
    this.#db.exec('BEGIN');
    try {
      this.#write();
      this.#db.exec('COMMIT');
    } catch (error) {
      // After some errors SQLite has rolled back by itself.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
    this.#starts = new Map();
    this.#completions = new Map();
    this.#hasFailed = false;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flushQuietly();
    this.#isClosed = true;
    this.#db.close();
  }

  #write(): void {
    for (const [key, start] of this.#starts) {
      const completion = this.#completions.get(key);
      this.#insert.run(...toRow(start, completion));
    }
    for (const [key, { runId, attempt, end, endedAtMs }] of this.#completions) {
      if (this.#starts.has(key)) continue;
      const { kind, reason, message, promptTokens, completionTokens } = toRecordedEnd(end);
      const tokens = [promptTokens ?? null, completionTokens ?? null];
      this.#update.run(endedAtMs, kind, reason, message, ...tokens, runId, attempt);
    }
    if (this.#starts.size > 0) this.#trim.run(this.#maxRuns);
  }

  #arm(delayMs: number): void {
    if (this.#isArmed || this.#isClosed) return;
    this.#isArmed = true;
    this.#options.clock.after(delayMs, this.#onTimer);
  }

  readonly #onTimer = (): void => {
    this.#isArmed = false;
    if (!this.#isClosed && !this.#flushQuietly()) this.#arm(retryAfterMs);
  };

  #flushQuietly(): boolean {
    try {
      this.flush();
      return true;
    } catch (error) {
      this.#complain(error);
      dropOldest(this.#starts);
      dropOldest(this.#completions);
      return false;
    }
  }

  /** Once, until it works again. */
  #complain(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { file, log } = this.#options;
    log.error({ file, error: String(error) }, 'the run history cannot be written; runs go on without it');
  }
}

function open(file: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    prepareSchema(db, file);
    return db;
  } catch (cause) {
    db?.close();
    if (isIopError(cause)) throw cause;
    const message = `the run history ${file} cannot be used: ${(cause as Error).message}; move it away to begin a new one`;
    throw new IopError({ kind: 'unavailable', code: 'store.unusable', message, cause });
  }
}

function keyOf({ runId, attempt }: { runId: string; attempt: number }): string {
  return `${runId}/${attempt}`;
}

function dropOldest(waiting: Map<string, unknown>): void {
  for (const key of waiting.keys()) {
    if (waiting.size <= maxWaiting) return;
    waiting.delete(key);
  }
}

const updateSql = `
  UPDATE runs SET ended_at = ?, end_kind = ?, end_reason = ?, end_message = ?, prompt_tokens = ?, completion_tokens = ?
  WHERE run_id = ? AND attempt = ? AND end_kind IS NULL`;

// S3: whatever was open when the last process ended, ended with it.
const orphanSql = `
  UPDATE runs SET ended_at = ?, end_kind = 'failed', end_reason = 'node.restarted',
    end_message = 'iop-node ended while it ran'
  WHERE end_kind IS NULL`;
