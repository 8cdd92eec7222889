import type { RunState } from '@iop/domain';
import {
  create,
  ListNodesRequestSchema,
  ListRunsRequestSchema,
  ListTargetsRequestSchema,
  toWireRunState,
} from '@iop/wire';
import { createKeyRequests, type KeyRequests } from './key-requests.ts';
import type { OperatorRequests } from './requests.ts';
import { createRunRequests, type RunRequests } from './run-requests.ts';
import { type TargetView, toTargetView } from './target-view.ts';
import { toUsageRequest, toUsageView, type UsageFilter, type UsageView } from './usage-view.ts';
import { type NodeView, type RunView, toNodeView, toRunView } from './views.ts';

export interface RunFilter {
  /** Newest first; at most 1000; undefined: 50. */
  limit?: number;
  states?: readonly RunState[];
  /** Only runs older than this one. */
  before?: string;
}

/**
 * What an operator can ask of an Edge. Everything throws `IopError`: what the Edge refused with, or
 * `unavailable` when the link is lost.
 */
export interface OperatorClient extends KeyRequests, RunRequests {
  /** Of the Edge, for people. */
  readonly edge: string;
  listNodes(): Promise<NodeView[]>;
  listTargets(): Promise<TargetView[]>;
  listRuns(filter?: RunFilter): Promise<RunView[]>;
  findRun(runId: string): Promise<RunView>;
  /** Most tokens first. */
  usage(filter?: UsageFilter): Promise<UsageView[]>;
  /** Says Goodbye; attached runs that were started here and still go on are cancelled by the Edge. */
  close(): void;
  [Symbol.dispose](): void;
}

export function createOperatorClient(requests: OperatorRequests, edge: string): OperatorClient {
  const close = (): void => requests.close();
  return {
    edge,
    ...createLists(requests),
    ...createKeyRequests(requests),
    ...createRunRequests(requests),
    close,
    [Symbol.dispose]: close,
  };
}

function createLists(
  requests: OperatorRequests,
): Pick<OperatorClient, 'listNodes' | 'listTargets' | 'listRuns' | 'findRun' | 'usage'> {
  return {
    async listNodes() {
      const request = { case: 'listNodes', value: create(ListNodesRequestSchema) } as const;
      return (await requests.ask(request, 'listNodes')).nodes.map(toNodeView);
    },
    async listTargets() {
      const request = { case: 'listTargets', value: create(ListTargetsRequestSchema) } as const;
      return (await requests.ask(request, 'listTargets')).targets.map(toTargetView);
    },
    async listRuns({ limit = 0, states = [], before = '' } = {}) {
      const value = create(ListRunsRequestSchema, { limit, states: states.map(toWireRunState), before });
      return (await requests.ask({ case: 'listRuns', value }, 'listRuns')).runs.map(toRunView);
    },
    async findRun(runId) {
      const value = create(ListRunsRequestSchema, { runId });
      const [run] = (await requests.ask({ case: 'listRuns', value }, 'listRuns')).runs;
      if (run?.runId !== runId) throw new TypeError(`the Edge answered without the run ${runId}`);
      return toRunView(run);
    },
    async usage(filter = {}) {
      const request = { case: 'usage', value: toUsageRequest(filter) } as const;
      return (await requests.ask(request, 'usage')).rows.map(toUsageView);
    },
  };
}
