import { connectOperator, type NodeView, noLimits, type OperatorClient, type RunView } from '@iop/client';
import type { Clock, RunEnd } from '@iop/domain';
import type { Edge } from './edge.ts';

export type RunEndInfo =
  | { kind: 'completed'; finish: string }
  | { kind: 'failed'; code: string }
  | { kind: 'cancelled'; by: string };

/** A run as the Edge's record shows it; its end only by what stories compare. */
export type RunInfo = Omit<RunView, 'end'> & { end: RunEndInfo | undefined };

/** What stories ask of the Edge over its Unix socket. */
export interface Operator {
  listNodes(): Promise<NodeView[]>;
  /** Newest first, 1000 at most. */
  listRuns(): Promise<RunInfo[]>;
  cancelRun(runId: string): Promise<void>;
  /** Gives the secret. */
  createKey(name: string, role?: 'caller' | 'operator'): Promise<string>;
  revokeKey(id: string): Promise<void>;
  close(): void;
}

export async function openOperator(edge: Pick<Edge, 'socketPath'>): Promise<Operator> {
  const client = await openClient(edge);
  return {
    listNodes: () => client.listNodes(),
    async listRuns() {
      const runs = await client.listRuns({ limit: 1000 });
      return runs.map((run) => ({ ...run, end: run.end && toEndInfo(run.end) }));
    },
    cancelRun: async (runId) => void (await client.cancelRun(runId)),
    createKey: async (name, role = 'caller') => (await client.createKey(name, { ...noLimits, role })).secret,
    revokeKey: async (id) => void (await client.revokeKey(id)),
    close: () => client.close(),
  };
}

/** Everything that the wire has for operators. */
export function openClient(edge: Pick<Edge, 'socketPath'>): Promise<OperatorClient> {
  return connectOperator(
    { address: { kind: 'unix', path: edge.socketPath }, name: 'e2e', build: 'e2e', clock: operatorClock },
    AbortSignal.timeout(30_000),
  );
}

export const operatorClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (callback) => process.nextTick(callback),
  atTurnEnd: (callback) => void setImmediate(callback),
};

function toEndInfo(end: RunEnd): RunEndInfo {
  switch (end.kind) {
    case 'completed':
      return { kind: 'completed', finish: end.finish };
    case 'failed':
      return { kind: 'failed', code: end.failure.code };
    case 'cancelled':
      return { kind: 'cancelled', by: end.by };
  }
}
