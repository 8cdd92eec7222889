import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { IopError } from '@iop/domain';
import { migrations } from './migrations.ts';

/** Beyond this the check of the whole would hold up the start: then only what cannot be made again is checked. */
const checkedSizeBytes = 64 * 1024 * 1024;
const preciousTables = ['identities', 'api_keys', 'config_revisions', 'claims', 'usage_days'];

/**
 * Opens the state of the Edge and brings its schema up to date. Runs in the store thread only.
 * @throws IopError `config.store-newer`, `config.store-corrupt`; SQLite's own errors as they are
 */
export function openDatabase(file: string): DatabaseSync {
  const isSmall = existsSync(file) && statSync(file).size <= checkedSizeBytes;
  const db = new DatabaseSync(file);
  try {
    assertSound(db, file, isSmall);
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = 16777216;
      PRAGMA cache_size = -2048;
      PRAGMA temp_store = MEMORY;
      PRAGMA busy_timeout = 2000;
    `);
    migrate(db, file);
    return db;
  } catch (reason) {
    db.close();
    throw isCorruption(reason) ? corrupt(file, String(reason)) : reason;
  }
}

/** One transaction: all of it or nothing. `FULL`: it survives a power cut when this has returned. */
export function inTransaction<T>(db: DatabaseSync, durability: 'NORMAL' | 'FULL', work: () => T): T {
  if (durability === 'FULL') db.exec('PRAGMA synchronous = FULL');
  try {
    db.exec('BEGIN IMMEDIATE');
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (reason) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw reason;
  } finally {
    if (durability === 'FULL') db.exec('PRAGMA synchronous = NORMAL');
  }
}

function migrate(db: DatabaseSync, file: string): void {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  if (version > migrations.length) throw newer(file, version);
  for (let next = version; next < migrations.length; next++) {
    inTransaction(db, 'FULL', () => {
      db.exec(migrations[next] ?? '');
      db.exec(`PRAGMA user_version = ${next + 1}`);
    });
  }
}

function assertSound(db: DatabaseSync, file: string, isSmall: boolean): void {
  const present = new Set(
    db
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
      .all()
      .map(({ name }) => name),
  );
  const parts = isSmall ? ['1'] : preciousTables.filter((table) => present.has(table));
  for (const part of parts) {
    const found = db.prepare(`PRAGMA quick_check(${part})`).get()?.quick_check;
    if (found !== 'ok') throw corrupt(file, String(found));
  }
}

function isCorruption(reason: unknown): boolean {
  return reason instanceof Error && /malformed|not a database/.test(reason.message);
}

function newer(file: string, version: number): IopError {
  return new IopError({
    kind: 'invalid',
    code: 'config.store-newer',
    message:
      `${file} was written by a newer iop-edge (schema ${version}, this one knows ${migrations.length}); ` +
      'start the newer program, or give another state_dir',
    details: { file, version },
  });
}

function corrupt(file: string, found: string): IopError {
  return new IopError({
    kind: 'invalid',
    code: 'config.store-corrupt',
    message: `${file} is damaged (${found}); bring back a copy, or move it away and enrol the Nodes anew`,
    details: { file },
  });
}
