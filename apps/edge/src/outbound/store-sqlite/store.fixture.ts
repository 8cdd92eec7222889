import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSystemClock } from '@iop/shell';
import { createTempDir } from '../../testing/temp-dir.ts';
import { openSqliteStore, type SqliteStore, type StoreOptions } from './store.ts';

export interface StoreWorld extends SqliteStore, AsyncDisposable {
  file: string;
  store: SqliteStore;
  /** Closes the store and opens it again, as after a restart. */
  reopen(more?: Partial<StoreOptions>): Promise<SqliteStore>;
  /** Rows of a table, by a connection of its own. */
  count(table: string, where?: string): number;
}

/** A store in a directory of its own; `dir`: in that one. */
export async function setUpStore(options: Partial<StoreOptions> = {}, dir?: string): Promise<StoreWorld> {
  const temp = dir === undefined ? await createTempDir() : undefined;
  const file = join(dir ?? temp?.path ?? '', 'state.db');
  const stores: SqliteStore[] = [];
  const reopen = async (more: Partial<StoreOptions> = {}) => {
    await stores.pop()?.close();
    const store = await openSqliteStore({ file, clock: createSystemClock(), ...options, ...more });
    stores.push(store);
    return store;
  };
  const store = await reopen();
  return {
    ...store,
    file,
    store,
    reopen,
    count: (table, where = 'true') => countRows(file, table, where),
    async [Symbol.asyncDispose]() {
      await stores.pop()?.close();
      await temp?.[Symbol.asyncDispose]();
    },
  };
}

function countRows(file: string, table: string, where: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(db.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${where}`).get()?.count);
  } finally {
    db.close();
  }
}

/** Calls again until it is true; the runner's limit ends what never is. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 10));
}
