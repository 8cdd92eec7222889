import { DatabaseSync } from 'node:sqlite';
import { IopError, isIopError } from '@iop/domain';
import { prepareSchema } from './schema.ts';

/**
 * The file, ready for use, and never to become larger than `maxFileBytes`.
 * @throws IopError `store.newer`, `store.unusable`
 */
export function openDatabase(file: string, maxFileBytes: number): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file);
    prepareSchema(db, file);
    const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.page_size);
    db.exec(`PRAGMA max_page_count = ${Math.ceil(maxFileBytes / pageBytes)}`);
    return db;
  } catch (cause) {
    db?.close();
    if (isIopError(cause)) throw cause;
    const message = `the run history ${file} cannot be used: ${(cause as Error).message}; move it away to begin a new one`;
    throw new IopError({ kind: 'unavailable', code: 'store.unusable', message, cause });
  }
}
