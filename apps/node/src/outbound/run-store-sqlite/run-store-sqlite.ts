import type { DatabaseSync } from 'node:sqlite';
import { type Clock, IopError } from '@iop/domain';
import type { AttemptRef, EndStore, KeptEnd } from '../../ports/end-store.ts';
import type { EpochStore } from '../../ports/epoch-store.ts';
import type { Log } from '../../ports/log.ts';
import type { RunCompletion, RunRecord, RunStart, RunStore } from '../../ports/run-store.ts';
import type { EndRowsLimits } from './end-rows.ts';
import { HistoryRows } from './history-rows.ts';
import { KeptEnds } from './kept-ends.ts';
import { openDatabase } from './open-database.ts';
import { type Synchronous, transact } from './transact.ts';

export interface SqliteRunStoreOptions {
  file: string;
  clock: Clock;
  log: Log;
  /** Newest runs that are kept. */
  maxRuns?: number;
  /** Ends that nobody takes are given up beyond this (B5). */
  ends?: EndRowsLimits;
  /** The whole file never takes more of the disk. */
  maxFileBytes?: number;
}

const defaults = {
  maxRuns: 10_000,
  ends: { maxAgeMs: 7 * 24 * 3_600_000, maxBytes: 128 * 1024 * 1024 },
  maxFileBytes: 512 * 1024 * 1024,
};
const writeWithinMs = 50;
const retryAfterMs = 1_000;

/**
 * The history and the undelivered ends in one SQLite file. History that is given within 50 ms is written in one
 * transaction, so that the relay never waits for a statement of its own; ends at once and to the disk.
 *
 * @throws IopError `store.newer`, `store.unusable`
 */
export function openSqliteRunStore(options: SqliteRunStoreOptions): SqliteRunStore {
  return new SqliteRunStore(options);
}

export class SqliteRunStore implements RunStore, EndStore, EpochStore {
  readonly #options: typeof defaults & SqliteRunStoreOptions;
  readonly #db: DatabaseSync;
  readonly #history: HistoryRows;
  readonly #ends: KeptEnds;
  #isArmed = false;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: SqliteRunStoreOptions) {
    this.#options = { ...defaults, ...options };
    this.#db = openDatabase(options.file, this.#options.maxFileBytes);
    this.#history = new HistoryRows(this.#db, this.#options.maxRuns);
    this.#ends = new KeptEnds(this.#db, this.#options);
    this.#quietly(() => this.#history.endOpen(options.clock.wall()));
    this.#quietly(() => this.#ends.giveUp());
  }

  get lastEpoch(): number {
    const row = this.#db.prepare("SELECT value FROM facts WHERE name = 'last_epoch'").get();
    return Number(row?.value ?? 0);
  }

  rememberEpoch(epoch: number): void {
    const sql = "INSERT OR REPLACE INTO facts VALUES ('last_epoch', max(?, ?))";
    this.#quietly(() => this.#db.prepare(sql).run(epoch, this.lastEpoch));
  }

  startRun(run: RunStart): void {
    this.#history.start(run);
    // Another process must know it by then (K8).
    if (run.runClass === 'detached') this.#flushOrRetry();
    else this.#arm(writeWithinMs);
  }

  completeRun(run: RunCompletion): void {
    this.#history.complete(run);
    this.#arm(writeWithinMs);
  }

  has(ref: AttemptRef): boolean {
    let isKnown = false;
    this.#quietly(() => {
      isKnown = this.#history.has(ref);
    });
    return isKnown;
  }

  recent(limit: number): readonly RunRecord[] {
    this.flush();
    return this.#history.recent(limit);
  }

  keep(ends: readonly KeptEnd[]): void {
    try {
      this.#commit('FULL', ends);
    } catch (cause) {
      const { file } = this.#options;
      const message = `${ends.length} ends cannot be written to ${file}: ${(cause as Error).message}`;
      throw new IopError({ kind: 'unavailable', code: 'store.refused', message, cause });
    }
    this.#quietly(() => this.#ends.giveUp());
  }

  forget(ref: AttemptRef): void {
    this.#ends.forget(ref);
    this.#arm(writeWithinMs);
  }

  kept(): readonly KeptEnd[] {
    return this.#ends.find();
  }

  flush(): void {
    if (this.#history.waiting + this.#ends.waiting > 0) this.#commit('NORMAL', []);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#flushQuietly();
    this.#isClosed = true;
    this.#db.close();
  }

  /** With everything that waits: history and ends say the same of a run, whenever the process dies. */
  #commit(synchronous: Synchronous, ends: readonly KeptEnd[]): void {
    transact(this.#db, synchronous, () => {
      this.#history.write();
      this.#ends.write(ends);
    });
    this.#history.written();
    this.#ends.written();
    this.#hasFailed = false;
  }

  #arm(delayMs: number): void {
    if (this.#isArmed || this.#isClosed) return;
    this.#isArmed = true;
    this.#options.clock.after(delayMs, this.#onTimer);
  }

  readonly #onTimer = (): void => {
    this.#isArmed = false;
    if (!this.#isClosed) this.#flushOrRetry();
  };

  #flushOrRetry(): void {
    if (!this.#flushQuietly()) this.#arm(retryAfterMs);
  }

  #flushQuietly(): boolean {
    const isWritten = this.#quietly(() => this.flush());
    if (!isWritten) this.#history.bound();
    return isWritten;
  }

  /** A failure is told once, until it works again. */
  #quietly(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      const { file, log } = this.#options;
      if (!this.#hasFailed) {
        log.error({ file, error: String(error) }, 'the run history cannot be written; runs go on without it');
      }
      this.#hasFailed = true;
      return false;
    }
  }
}
