import type { DatabaseSync } from 'node:sqlite';

/** NORMAL: outlives the process. FULL: is on the disk when `transact` returns. */
export type Synchronous = 'NORMAL' | 'FULL';

/** All of `work` or, if it or the disk throws, nothing of it. */
export function transact(db: DatabaseSync, synchronous: Synchronous, work: () => void): void {
  if (synchronous === 'FULL') db.exec('PRAGMA synchronous = FULL');
  try {
    db.exec('BEGIN IMMEDIATE');
    work();
    db.exec('COMMIT');
  } catch (error) {
    // After some errors SQLite has rolled back by itself.
    if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
    throw error;
  } finally {
    if (synchronous === 'FULL' && db.isOpen) db.exec('PRAGMA synchronous = NORMAL');
  }
}
