import type { CancelCause, RunEnd, RunState } from '@iop/domain';

/**
 * Records of runs, written behind: `save` never waits and never throws, a newer state of the same run
 * replaces an older one that was not written yet. What cannot be written is kept up to a bound, then
 * dropped and counted; the data plane goes on.
 *
 * Contract suite: `run-records.contract.ts`.
 */
export interface RunRecords {
  save(record: RunRecord): void;
  /** As `save`, but resolves when it survives a power cut. Rejects with an `unavailable` IopError. */
  commit(record: RunRecord): Promise<void>;
  /** Sees everything that was saved before the call. Rejects with an `unavailable` IopError. */
  find(runId: string): Promise<RunRecord | undefined>;
  /** Sees everything that was saved before the call. Rejects with an `unavailable` IopError. */
  list(query: RunQuery): Promise<readonly RunRecord[]>;
  /**
   * Sums over ended runs; most tokens first. Outlives the records themselves: of runs whose records are gone whole
   * days (UTC) are counted. Sees everything that was saved before the call. Rejects as `list` does.
   */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** A Node came back with an end of a run that had been given up: `words` become `RunRecord.stale`. */
  noteStale(runId: string, words: string): void;
  /** Resolves when everything saved before the call is written, or rejects. */
  flush(): Promise<void>;
}

export interface RunRecord {
  runId: string;
  state: RunState;
  door: string;
  keyId: string;
  /** The public name that was asked for; empty where adapter and target were. */
  asked: string;
  /** Empty until it is known, as are target and node. */
  adapter: string;
  target: string;
  node: string;
  attempts: number;
  /** Why it went to that Node, for people; empty before the first dispatch. */
  route: string;
  /** Milliseconds since 1970. */
  createdAtMs: number;
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  end: RunEnd | undefined;
  runClass: RunClass;
  /** Its content is kept for its own retention, whatever `history.content` says. */
  stored: boolean;
  /** Of the newest event in its log. */
  lastPos: number;
  /** A cancel that was asked for and has not come to an end. */
  stopCause: CancelCause | undefined;
  /** Of the Node's process that has, or had, its last attempt. */
  nodeInstance: string;
  /** Of the last attempt: whether content of it was accepted. */
  committed: boolean;
  /** What a Node said of an attempt after the run had ended, for people; empty: nothing. */
  stale: string;
}

export type RunClass = 'attached' | 'detached';

export interface RunQuery {
  /** 1 to 1000, newest first. */
  limit: number;
  /** Empty: all. */
  states: readonly RunState[];
  /** Only runs older than this id. */
  before: string | undefined;
}

export const usageGroups = ['key', 'model', 'node'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface UsageQuery {
  group: UsageGroup;
  /** Runs created since then, milliseconds since 1970; 0: all that is known. */
  sinceMs: number;
}

export interface UsageSum {
  /** Id of a key or name of an operator; a model's name or `adapter/target`; a Node's name. */
  group: string;
  runs: number;
  failed: number;
  cancelled: number;
  promptTokens: number;
  completionTokens: number;
  /** Runs whose tokens are estimated. */
  estimated: number;
  /** Runs that nobody gave tokens for. */
  unmeasured: number;
}
