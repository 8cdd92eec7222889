import type { StoredIdentity } from '../../ports/identity-store.ts';
import type { StoredKey } from '../../ports/key-store.ts';
import type { RunQuery, RunRecord, UsageQuery, UsageSum } from '../../ports/run-records.ts';

/** What the main thread asks of the store thread. Answered in order. */
export type StoreAsk =
  /** `fresh`: the Edge has just started, so that no run of the store can still be live. */
  | { kind: 'open'; file: string; fresh: boolean; nowMs: number }
  /** Cells of `runColumns` records in a row: one flat array crosses threads at a third of the cost. */
  | { kind: 'write-runs'; cells: readonly Cell[] }
  | { kind: 'write-durably'; writes: readonly DurableWrite[] }
  | { kind: 'find-run'; runId: string }
  | { kind: 'list-runs'; query: RunQuery }
  | { kind: 'sum-usage'; query: UsageQuery }
  /** Deletes at most `limit` ended runs older than that id; their usage stays, until `daysBefore` (since 1970). */
  | { kind: 'prune-runs'; before: string; limit: number; daysBefore: number }
  | { kind: 'close' };

/** What each of them is answered with. */
export interface StoreAnswers {
  open: StoreContent;
  'write-runs': undefined;
  'write-durably': undefined;
  'find-run': RunRecord | undefined;
  'list-runs': RunRecord[];
  'sum-usage': UsageSum[];
  'prune-runs': number;
  close: undefined;
}

export type Cell = string | number | null;

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
  /** Runs that an earlier process left without an end. */
  interrupted: number;
}

export interface StoreRequest {
  id: number;
  ask: StoreAsk;
}

export type StoreReply =
  | { id: number; kind: 'done'; value: unknown }
  | { id: number; kind: 'failed'; code: string; message: string };
