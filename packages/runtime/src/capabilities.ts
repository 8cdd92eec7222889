/** What an adapter instance can execute at this moment. */
export interface Capabilities {
  healthy: boolean;
  /** Why not healthy, or what is unusual: for people. Empty when all is well. */
  detail: string;
  targets: readonly TargetInfo[];
}

export interface TargetInfo {
  /** What goes in `ExecutionSpec.target`. */
  name: string;
  /** Longest prompt + answer in tokens, when the upstream says. */
  contextLength?: number;
}
