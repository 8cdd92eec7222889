import type { StoredIdentity } from '../../ports/identity-store.ts';
import type { StoredKey } from '../../ports/key-store.ts';
import type { Claim, Created, RestoredRun, RunOrder } from '../../ports/run-orders.ts';
import type { RunQuery, RunRecord, UsageQuery, UsageSum } from '../../ports/run-records.ts';

/** What the main thread asks of the store thread. Answered in order. */
export type StoreAsk =
  | OpenAsk
  | { kind: 'write'; write: StoreWrite }
  | { kind: 'find-run'; runId: string }
  | { kind: 'list-runs'; query: RunQuery }
  | { kind: 'sum-usage'; query: UsageQuery }
  | { kind: 'read-log'; runId: string; afterPos: number; limitBytes: number }
  | { kind: 'find-order'; runId: string }
  | { kind: 'prune'; bounds: PruneBounds }
  | { kind: 'close' };

/** What each of them is answered with. */
export interface StoreAnswers {
  open: StoreContent;
  write: WriteAnswer;
  'find-run': RunRecord | undefined;
  'list-runs': RunRecord[];
  'sum-usage': UsageSum[];
  'read-log': SegmentPage | undefined;
  'find-order': RunOrder | undefined;
  /** Whether there is more to delete. */
  prune: boolean;
  close: undefined;
}

export interface OpenAsk {
  kind: 'open';
  file: string;
  /** The Edge has just started, so that no run of the store can still be live. */
  fresh: boolean;
  nowMs: number;
  /** What ends the log of a run that was cut, encoded. */
  restartedEvent: Uint8Array;
  /** Of the database's log. */
  walLimitBytes: number;
}

export type Cell = string | number | null | Uint8Array;

/** One transaction. Flat arrays of cells cross threads at a third of the cost of objects. */
export interface StoreWrite {
  /** It survives a power cut when it is answered. */
  full: boolean;
  /** Creations that nobody knows the outcome of: they never were. */
  discards: readonly string[];
  creations: readonly CreationCells[];
  /** Cells of `orderColumns`, order after order. */
  orders: readonly Cell[];
  /** Cells of `runColumns`, record after record. */
  records: readonly Cell[];
  /** As `pushLogCells` writes it. */
  logs: readonly Cell[];
  /** What `logs` points into; given back with the answer. */
  events: Uint8Array<ArrayBuffer> | undefined;
  /** Id and words, in turn. */
  stale: readonly string[];
  durable: readonly DurableWrite[];
  /** Runs whose content and order go. */
  deletions: readonly string[];
}

export interface CreationCells {
  record: readonly Cell[];
  order: readonly Cell[];
  claim: Claim | undefined;
}

export interface WriteAnswer {
  /** One for each creation. */
  created: Created[];
  events: Uint8Array<ArrayBuffer> | undefined;
  /** Content of attached runs that are not stored. */
  contentBytes: number;
}

/** Encoded events that follow each other. `bytes` has `pageHeadBytes` of room before them. */
export interface SegmentPage {
  firstPos: number;
  count: number;
  bytes: Uint8Array<ArrayBuffer>;
}

export const pageHeadBytes = 8;

export interface PruneBounds {
  nowMs: number;
  /** Records, and with them all that belongs to them, are kept so long. */
  recordsMs: number;
  /** Content of attached runs that are not stored, in all. */
  contentBytes: number;
  /** Everything of stored and detached runs is kept so long. */
  storedMs: number;
}

export type DurableWrite =
  | { kind: 'identity'; identity: StoredIdentity }
  | { kind: 'key'; key: StoredKey }
  | { kind: 'revision'; revision: ConfigRevision };

export interface ConfigRevision {
  revision: number;
  /** Of the configuration's content. */
  hash: string;
  loadedAtMs: number;
}

/** Everything that the main thread keeps in memory. */
export interface StoreContent {
  identities: StoredIdentity[];
  keys: StoredKey[];
  /** The newest. */
  revision: ConfigRevision | undefined;
  /** Attached runs that an earlier process left without an end. */
  interrupted: number;
  /** Detached ones. */
  restored: RestoredRun[];
}

export interface StoreRequest {
  id: number;
  ask: StoreAsk;
}

export type StoreReply =
  | { id: number; kind: 'done'; value: unknown }
  | { id: number; kind: 'failed'; code: string; message: string };
