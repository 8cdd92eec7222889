import type { DatabaseSync } from 'node:sqlite';
import { IopError } from '@iop/domain';

/** The n-th brings a store of version n to version n + 1. */
const steps = [
  `CREATE TABLE runs (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    run_class TEXT NOT NULL,
    adapter TEXT NOT NULL,
    target TEXT NOT NULL,
    door TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    end_kind TEXT,
    end_reason TEXT,
    end_message TEXT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    UNIQUE (run_id, attempt)
  ) STRICT;
  CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;`,
  `CREATE TABLE kept_ends (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (run_id, attempt)
  ) STRICT;
  CREATE TABLE kept_parts (
    end_id INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (end_id, first_seq)
  ) STRICT;`,
];

/** Of `PRAGMA user_version`. */
export const storeVersion = steps.length;

/** Makes an empty or older file ours; refuses what a newer version has written. */
export function prepareSchema(db: DatabaseSync, file: string): void {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;');
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  if (version > storeVersion) throw newerStore(file, version);
  for (let at = version; at < storeVersion; at++) {
    db.exec(`BEGIN; ${steps[at]} PRAGMA user_version = ${at + 1}; COMMIT;`);
  }
}

function newerStore(file: string, version: number): IopError {
  return new IopError({
    kind: 'conflict',
    code: 'store.newer',
    message: `${file} was written by a newer iop-node (store version ${version}, this one knows ${storeVersion}): update iop-node, or move the file away to begin a new history`,
    details: { file, version, known: storeVersion },
  });
}
