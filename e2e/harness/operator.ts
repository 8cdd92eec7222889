import type { Edge } from './edge.ts';

export type RunEndInfo =
  | { kind: 'completed'; finish: string }
  | { kind: 'failed'; code: string }
  | { kind: 'cancelled'; by: string };

/** A run as the Edge's record shows it. */
export interface RunInfo {
  runId: string;
  state: string;
  node: string;
  attempts: number;
  end: RunEndInfo | undefined;
}

export interface NodeInfo {
  name: string;
  state: string;
  epoch: number;
  running: number;
  detail: string;
  adapters: readonly { name: string; healthy: boolean; detail: string; targets: readonly string[] }[];
}

/** What stories ask of the Edge over its Unix socket. */
export interface Operator {
  listNodes(): Promise<NodeInfo[]>;
  /** Newest first. */
  listRuns(): Promise<RunInfo[]>;
  cancelRun(runId: string): Promise<void>;
  /** Gives the secret. */
  createKey(name: string): Promise<string>;
  revokeKey(id: string): Promise<void>;
  close(): void;
}

export function openOperator(_edge: Edge): Promise<Operator> {
  throw new Error('not yet');
}
