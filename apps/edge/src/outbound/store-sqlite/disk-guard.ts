import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from './database.ts';

/**
 * Transactions on a disk that may be full, failing, or held by another reader.
 *
 * D1: after an error of the disk nothing is written before the log of the database was taken over into it as a whole:
 *     what the kernel could not write once it may have forgotten, though the next sync succeeds.
 * D2: the database's log (WAL) does not grow beyond `walLimitBytes`, also when another program reads and so holds it.
 * D3: a full disk is tried once more with an empty log.
 */
export interface DiskGuard {
  transact<T>(durability: 'NORMAL' | 'FULL', work: () => T): T;
}

export interface DiskGuardOptions {
  db: DatabaseSync;
  file: string;
  walLimitBytes: number;
  /** What was read of the database before may be wrong now. */
  onRollback(): void;
}

export function createDiskGuard(options: DiskGuardOptions): DiskGuard {
  return new Guard(options);
}

class Guard implements DiskGuard {
  readonly #options: DiskGuardOptions;
  #isSuspect = false;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
  }

  transact<T>(durability: 'NORMAL' | 'FULL', work: () => T): T {
    this.#boundLog();
    if (this.#isSuspect) this.#takeOver();
    try {
      return this.#try(durability, work);
    } catch (reason) {
      if (primaryCode(reason) !== fullCode) throw reason;
      emptyLog(this.#options.db);
      return this.#try(durability, work);
    }
  }

  #try<T>(durability: 'NORMAL' | 'FULL', work: () => T): T {
    const { db, onRollback } = this.#options;
    try {
      return inTransaction(db, durability, work);
    } catch (reason) {
      if (primaryCode(reason) === ioErrorCode) this.#isSuspect = true;
      onRollback();
      throw reason;
    }
  }

  #takeOver(): void {
    const { db, file } = this.#options;
    if (!emptyLog(db))
      throw new Error(`after an error of the disk ${file} is held by another program; end it`);
    this.#isSuspect = false;
  }

  #boundLog(): void {
    const { db, file, walLimitBytes } = this.#options;
    if (logSizeBytes(file) <= walLimitBytes) return;
    emptyLog(db);
    const sizeBytes = logSizeBytes(file);
    if (sizeBytes <= walLimitBytes) return;
    const sizeMib = Math.round(sizeBytes / 1024 / 1024);
    throw new Error(`another program reads it and so holds ${sizeMib} MiB of ${file}-wal; end that program`);
  }
}

const fullCode = 13;
const ioErrorCode = 10;

/** False: somebody holds it. */
function emptyLog(db: DatabaseSync): boolean {
  db.exec('PRAGMA busy_timeout = 0');
  try {
    return Number(db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy) === 0;
  } finally {
    db.exec('PRAGMA busy_timeout = 2000');
  }
}

function logSizeBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** SQLite's own; 0: it is no error of SQLite. */
function primaryCode(reason: unknown): number {
  const code = reason instanceof Error && 'errcode' in reason ? Number(reason.errcode) : 0;
  return code & 0xff;
}
