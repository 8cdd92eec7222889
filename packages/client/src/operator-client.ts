import type { RunState } from '@iop/domain';
import {
  CancelRunRequestSchema,
  CreateKeyRequestSchema,
  create,
  fromWireRunState,
  ListKeysRequestSchema,
  ListNodesRequestSchema,
  ListRunsRequestSchema,
  ListTargetsRequestSchema,
  RevokeKeyRequestSchema,
  RunClass,
  StartRunRequestSchema,
  toWireRunState,
} from '@iop/wire';
import type { OperatorRequests } from './requests.ts';
import { type RunOrder, type StartedRun, UpdateQueue } from './started-run.ts';
import {
  type KeyView,
  type NodeView,
  type RunView,
  type TargetView,
  toKeyView,
  toNodeView,
  toRunView,
  toTargetView,
} from './views.ts';

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
export interface OperatorClient {
  /** Of the Edge, for people. */
  readonly edge: string;
  listNodes(): Promise<NodeView[]>;
  listTargets(): Promise<TargetView[]>;
  listRuns(filter?: RunFilter): Promise<RunView[]>;
  /** Gives its state when the cancel was taken; `stopping` until the work has stopped. */
  cancelRun(runId: string): Promise<RunState>;
  startRun(order: RunOrder): Promise<StartedRun>;
  /** `secret` is shown this once. */
  createKey(name: string): Promise<{ key: KeyView; secret: string }>;
  listKeys(): Promise<KeyView[]>;
  revokeKey(id: string): Promise<KeyView>;
  /** Says Goodbye; runs that were started here and still go on are cancelled by the Edge. */
  close(): void;
  [Symbol.dispose](): void;
}

export function createOperatorClient(requests: OperatorRequests, edge: string): OperatorClient {
  const close = (): void => requests.close();
  return {
    edge,
    ...createLists(requests),
    ...createKeys(requests),
    cancelRun: (runId) => cancelRun(requests, runId),
    startRun: (order) => startRun(requests, order),
    close,
    [Symbol.dispose]: close,
  };
}

function createLists(
  requests: OperatorRequests,
): Pick<OperatorClient, 'listNodes' | 'listTargets' | 'listRuns'> {
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
  };
}

function createKeys(
  requests: OperatorRequests,
): Pick<OperatorClient, 'createKey' | 'listKeys' | 'revokeKey'> {
  return {
    async createKey(name) {
      const value = create(CreateKeyRequestSchema, { name });
      const answer = await requests.ask({ case: 'createKey', value }, 'createKey');
      return { key: toKeyView(required(answer.key)), secret: answer.secret };
    },
    async listKeys() {
      const request = { case: 'listKeys', value: create(ListKeysRequestSchema) } as const;
      return (await requests.ask(request, 'listKeys')).keys.map(toKeyView);
    },
    async revokeKey(id) {
      const value = create(RevokeKeyRequestSchema, { id });
      return toKeyView(required((await requests.ask({ case: 'revokeKey', value }, 'revokeKey')).key));
    },
  };
}

async function cancelRun(requests: OperatorRequests, runId: string): Promise<RunState> {
  const value = create(CancelRunRequestSchema, { runId });
  return fromWireRunState((await requests.ask({ case: 'cancelRun', value }, 'cancelRun')).state);
}

async function startRun(requests: OperatorRequests, order: RunOrder): Promise<StartedRun> {
  const updates = new UpdateQueue();
  const { answer, stop } = await requests.watch(
    { case: 'startRun', value: toStartRequest(order) },
    'startRun',
    { onUpdate: (update) => updates.receive(update), onStopped: (reason) => updates.close(reason) },
  );
  return {
    runId: answer.runId,
    updates,
    async cancel() {
      await cancelRun(requests, answer.runId);
    },
    leave: stop,
  };
}

function toStartRequest(order: RunOrder) {
  return create(StartRunRequestSchema, {
    adapter: order.adapter,
    target: order.target,
    node: order.node ?? '',
    dialect: order.dialect,
    body: order.body,
    stream: order.stream,
    includeUsage: order.includeUsage ?? false,
    runClass: RunClass.ATTACHED,
    deadlineMs: order.deadlineMs ?? 0,
  });
}

/** A message inside an answer is optional on the wire only. */
function required<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('the Edge answered without the key itself');
  return value;
}
