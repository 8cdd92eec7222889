import type { AdapterSettings } from '../ports/node-link.ts';

/** The part of edge.yaml that decides about execution; a changed file is a new revision. */
export interface EdgeSettings {
  revision: number;
  adapters: readonly AdapterSettings[];
  models: readonly ModelSettings[];
  limits: Limits;
  history: HistorySettings;
}

/** What is kept of runs, and for how long. */
export interface HistorySettings {
  /** Of attached runs: everything, or only what the Edge itself has to say of them. */
  content: 'full' | 'metadata';
  /** Whether callers may have content kept: stored and detached runs. */
  store: 'allow' | 'refuse';
  /** Of records, and of the content of attached runs. */
  retentionMs: number;
  /** All content of attached runs that nobody asked to store. */
  contentBytes: number;
  /** Of stored and detached runs. */
  storedRetentionMs: number;
}

/** A public name. */
export type ModelSettings =
  | {
      kind: 'target';
      name: string;
      adapter: string;
      target: string;
      /** Runs at once on each Node; 0: no limit. */
      concurrency: number;
    }
  | AliasSettings;

/** A name for others. Of its tiers the first that has a place which can take runs is meant. */
export interface AliasSettings {
  kind: 'alias';
  name: string;
  tiers: readonly (readonly AliasRoute[])[];
}

export interface AliasRoute {
  /** A public name of a target, or `adapter/name`. */
  name: string;
  /** Its share within the tier; undefined in a whole tier: the least busy place of all of it. */
  weight: number | undefined;
}

export interface Limits {
  /** Runs that may wait for a place, over all targets. */
  queue: number;
  queueWaitMs: number;
  /** Runs at once on one Node, over all adapters; 0: no limit. */
  nodeConcurrency: number;
  /** Smallest interval of pings. */
  heartbeatMs: number;
  /** A run whose Node is away so long is lost. */
  lostAfterMs: number;
  /** The same for a detached run. */
  detachedLostAfterMs: number;
  /** The same as `queueWaitMs` for a detached run. */
  detachedQueueWaitMs: number;
  /** A run without content whose Node is away so long may start elsewhere. */
  redispatchAfterMs: number;
  /** A Node without a link stops its attached runs after this. */
  orphanAfterMs: number;
  /** A Node that gets no credit for so long ends the run. */
  stallAfterMs: number;
  /** Longest life of a run; 0: no limit. */
  runDeadlineMs: number;
  /** A cancel that a Node did not confirm for so long ends the run as failed. */
  stopAfterMs: number;
  /** Dispatches of one run. */
  attempts: number;
  /** Failures in a row that keep runs away from a place for a while; 0: none do. */
  breakerFailures: number;
  /** For how long the first time; doubles each time, up to a minute. */
  breakerOpenMs: number;
}

export const defaultLimits: Limits = {
  queue: 256,
  queueWaitMs: 60_000,
  nodeConcurrency: 0,
  heartbeatMs: 10_000,
  lostAfterMs: 15_000,
  detachedLostAfterMs: 600_000,
  detachedQueueWaitMs: 3_600_000,
  redispatchAfterMs: 300,
  orphanAfterMs: 10_000,
  stallAfterMs: 60_000,
  runDeadlineMs: 0,
  stopAfterMs: 10_000,
  attempts: 3,
  breakerFailures: 5,
  breakerOpenMs: 2000,
};

const dayMs = 24 * 3_600_000;

export const defaultHistory: HistorySettings = {
  content: 'full',
  store: 'allow',
  retentionMs: 7 * dayMs,
  contentBytes: 2 * 1024 ** 3,
  storedRetentionMs: 30 * dayMs,
};
