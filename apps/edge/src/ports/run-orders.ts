import type { Dialect, RawRequest } from '@iop/runtime';
import type { RunSelect } from '../core/door.ts';
import type { RunRecord } from './run-records.ts';

/**
 * What was asked of runs that are kept: enough to dispatch one again after a restart, and to show its request.
 *
 * O1: `create` is one transaction (FULL): the record, its order and the claim of its key are there together or not at
 *     all. Of two creations with one claim exactly one is `created`, also across restarts.
 * O2: an order lives as long as the content of its run.
 */
export interface RunOrders {
  /** Rejects with an `unavailable` IopError: nothing was created. */
  create(creation: Creation): Promise<Created>;
  /** Written behind, with the record of the same run. */
  keep(order: RunOrder): void;
  /** Sees everything that was given before the call. Rejects with an `unavailable` IopError. */
  find(runId: string): Promise<RunOrder | undefined>;
  /** Deletes order and content, FULL; the record stays, marked. Rejects with an `unavailable` IopError. */
  deleteContent(runId: string): Promise<void>;
}

export interface Creation {
  record: RunRecord;
  order: RunOrder;
  claim?: Claim;
}

/** An idempotency key of a caller. Forgotten 24 h after it was claimed. */
export interface Claim {
  /** API key and door: what makes the key unique. */
  scope: string;
  key: string;
  /** Of the caller's bytes. */
  bodyHash: string;
  claimedAtMs: number;
  /** The claim of this run is taken over: it ended in a way that lets the caller try again. */
  replaces?: string;
}

export type Created =
  | { kind: 'created' }
  /** The key is that of an earlier run. */
  | { kind: 'claimed'; runId: string; bodyHash: string };

/** What a run was asked for. */
export interface RunOrder {
  runId: string;
  select: RunSelect;
  dialect: Dialect;
  body: Uint8Array;
  stream: boolean;
  includeUsage: boolean;
  raw: RawRequest | undefined;
  /** 0: no limit. */
  deadlineMs: number;
  /** The caller's bytes, where `body` is a translation of them. */
  asked: Uint8Array | undefined;
}

/** A detached run that an earlier process of the Edge left without an end. */
export interface RestoredRun {
  record: RunRecord;
  order: RunOrder;
  /** Of the newest event in its log. */
  lastPos: number;
  /** Of its last attempt: the last seq in the log. */
  receivedSeq: number;
}
