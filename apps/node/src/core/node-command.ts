import type { RunFailure } from '@iop/domain';
import type { AdapterReport } from './adapter-report.ts';
import type { AttemptPhase } from './attempt.ts';

/** Asked of this one Node. (`transport` is answered by whoever holds the link.) */
export type NodeCommand =
  | { kind: 'capabilities' }
  | { kind: 'status' }
  | { kind: 'sessions' }
  | { kind: 'terminate-session'; sessionId: string }
  | { kind: 'drain'; deadlineMs: number }
  | { kind: 'resume' };

export type NodeCommandResult =
  | { kind: 'capabilities'; adapters: readonly AdapterReport[] }
  | { kind: 'status'; status: NodeStatus }
  | { kind: 'sessions'; sessions: readonly NodeSession[] }
  | { kind: 'done' }
  | { kind: 'failed'; failure: RunFailure };

export interface NodeStatus {
  /** Of the configuration in force; 0: none yet. */
  configRevision: number;
  draining: boolean;
  runs: readonly RunStatus[];
}

export interface RunStatus {
  runId: string;
  attempt: number;
  adapter: string;
  target: string;
  phase: AttemptPhase;
  isStopping: boolean;
}

export interface NodeSession {
  sessionId: string;
  adapter: string;
  target: string;
}
