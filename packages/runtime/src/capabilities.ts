/** What an adapter instance can execute at this moment. */
export interface Capabilities {
  healthy: boolean;
  /** Why not healthy, or what is unusual: for people. Empty when all is well. */
  detail: string;
  targets: readonly TargetInfo[];
  /** How busy the upstream is, callers of others included; undefined: it does not say. */
  load?: UpstreamLoad;
}

export interface UpstreamLoad {
  running: number;
  waiting: number;
  /** Share of its cache in use, 0 to 1. */
  cacheUse?: number;
}

export interface TargetInfo {
  /** What goes in `ExecutionSpec.target`. */
  name: string;
  /** Longest prompt + answer in tokens, when the upstream says. */
  contextLength?: number;
  /** At most one of each name; what is missing is not known. */
  facts?: readonly TargetFact[];
}

/**
 * What a target can do. `usage-in-stream`: it tells usage at the end of a stream when asked.
 * `stream-tools`: calls of tools arrive in pieces while it streams.
 */
export const factNames = [
  'chat',
  'completions',
  'embeddings',
  'tools',
  'stream-tools',
  'usage-in-stream',
  'reasoning',
  'images',
] as const;
export type FactName = (typeof factNames)[number];

/** `declared`: the upstream says so. `measured`: a run showed it; that counts more. */
export interface TargetFact {
  name: FactName;
  holds: boolean;
  source: 'declared' | 'measured';
}
