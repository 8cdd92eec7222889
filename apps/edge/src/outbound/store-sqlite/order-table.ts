import type { DatabaseSync } from 'node:sqlite';
import type { Claim, RunOrder } from '../../ports/run-orders.ts';
import type { Cell } from './messages.ts';
import { fromOrderRow, orderColumns } from './order-row.ts';

/** What runs were asked for, and the idempotency keys that claimed them. */
export interface OrderTable {
  /** Cells of `orderColumns`, order after order. */
  write(cells: readonly Cell[]): void;
  find(runId: string): RunOrder | undefined;
  delete(runId: string): void;
  /** The claim that stands in the way of this one. */
  conflictOf(claim: Claim): { runId: string; bodyHash: string } | undefined;
  claim(runId: string, claim: Claim): void;
  deleteClaimsOf(runId: string): void;
}

/** Claims are forgotten after a day. */
export const claimMs = 24 * 3_600_000;

export function createOrderTable(db: DatabaseSync): OrderTable {
  const marks = orderColumns.map(() => '?').join(', ');
  const insert = db.prepare(
    `INSERT OR REPLACE INTO run_orders (${orderColumns.join(', ')}) VALUES (${marks})`,
  );
  const findOne = db.prepare('SELECT * FROM run_orders WHERE run_id = ?');
  const deleteOne = db.prepare('DELETE FROM run_orders WHERE run_id = ?');
  const findClaim = db.prepare('SELECT * FROM claims WHERE scope = ? AND key = ? AND claimed_at > ?');
  const insertClaim = db.prepare(
    'INSERT OR REPLACE INTO claims (scope, key, body_hash, run_id, claimed_at) VALUES (?, ?, ?, ?, ?)',
  );
  const deleteClaims = db.prepare('DELETE FROM claims WHERE run_id = ?');

  return {
    write(cells) {
      for (let at = 0; at < cells.length; at += orderColumns.length) {
        insert.run(...cells.slice(at, at + orderColumns.length));
      }
    },
    find(runId) {
      const row = findOne.get(runId);
      return row === undefined ? undefined : fromOrderRow(row);
    },
    delete: (runId) => void deleteOne.run(runId),
    conflictOf({ scope, key, claimedAtMs, replaces }) {
      const row = findClaim.get(scope, key, claimedAtMs - claimMs);
      if (row === undefined || row.run_id === replaces) return undefined;
      return { runId: String(row.run_id), bodyHash: String(row.body_hash) };
    },
    claim: (runId, { scope, key, bodyHash, claimedAtMs }) =>
      void insertClaim.run(scope, key, bodyHash, runId, claimedAtMs),
    deleteClaimsOf: (runId) => void deleteClaims.run(runId),
  };
}
