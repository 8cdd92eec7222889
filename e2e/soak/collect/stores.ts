import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { markerIn } from '../history/script.ts';

/** The markers in the requests that the Edge keeps; beside the Edge, which goes on writing. */
export function readOrders(stateDir: string): Map<string, string> {
  const db = new DatabaseSync(join(stateDir, 'state.db'), { readOnly: true });
  try {
    const rows = db.prepare('SELECT run_id, body FROM run_orders').all() as {
      run_id: string;
      body: Uint8Array;
    }[];
    const markers = rows.map(
      ({ run_id, body }) => [run_id, markerIn(Buffer.from(body).toString('utf8'))] as const,
    );
    return new Map(markers.filter((entry): entry is [string, string] => entry[1] !== undefined));
  } finally {
    db.close();
  }
}

/** What SQLite itself says of each database of a state directory; nobody may have it open. */
export function checkStores(stateDir: string): { file: string; integrity: string }[] {
  return databases(stateDir).map((path) => ({ file: nameOf(path), integrity: integrityOf(path) }));
}

function integrityOf(path: string): string {
  try {
    const db = new DatabaseSync(path);
    const rows = db.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
    db.close();
    return rows.map((row) => row.integrity_check).join('; ');
  } catch (cause) {
    return String(cause);
  }
}

/** Longest write-ahead log of each database at this moment. */
export function walSizes(stateDir: string): Map<string, number> {
  return new Map(databases(stateDir).map((path) => [nameOf(path), sizeOf(`${path}-wal`)]));
}

function databases(stateDir: string): string[] {
  return readdirSync(stateDir)
    .filter((name) => name.endsWith('.db'))
    .map((name) => join(stateDir, name));
}

function nameOf(path: string): string {
  return join(basename(join(path, '..')), basename(path));
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
