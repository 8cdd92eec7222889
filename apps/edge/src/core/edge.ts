import type { RunState } from '@iop/domain';
import type { KeyStore } from '../ports/key-store.ts';
import type { RestoredRun } from '../ports/run-orders.ts';
import type { RunQuery, RunRecord, UsageQuery, UsageSum } from '../ports/run-records.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Counters } from './counters.ts';
import type { EdgeDoor, RunDoor, RunSelect } from './door.ts';
import { createEdgeKeys, type EdgeKeys } from './edge-keys.ts';
import { createEdgeState, type EdgeState, type EdgeStateDeps } from './edge-state.ts';
import { endAllRuns, type StopTimes } from './edge-stop.ts';
import { createKeyAccess, type KeyAccess } from './key-access.ts';
import { createKeyBook, type KeyBook } from './key-book.ts';
import { planNodeConfig } from './node-config.ts';
import { nodeState } from './node-entry.ts';
import { createNodes, type Nodes } from './nodes.ts';
import { forgiveNode } from './place-health.ts';
import type { Readiness } from './readiness.ts';
import { createRunDoor } from './run-door.ts';
import { listRuns } from './run-list.ts';
import { type ReadRequest, readRun } from './run-open.ts';
import { restoreRuns } from './run-restore.ts';
import { createStart, type StartDeps } from './run-start.ts';
import type { EdgeSettings } from './settings.ts';
import { type TargetView, viewTargets } from './target-view.ts';
import { type NodeView, viewNode } from './views.ts';
import { isSettling, whyBlocked, whyNotNow } from './why-not-now.ts';
import { whyWaiting } from './why-waiting.ts';

/** The application core: every door, operator and link calls this one. See apps/edge/DESIGN.md. */
export interface Edge extends EdgeDoor, EdgeKeys {
  /** Driven by the links of Nodes. */
  readonly nodes: Nodes;
  readonly counters: Counters;
  listNodes(): NodeView[];
  listTargets(): TargetView[];
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  /** A page of its log as a cursor would be given it now; undefined: there is no such run. */
  readRun(request: ReadRequest): ReturnType<typeof readRun>;
  /** What a run waits for now, for people; empty: for nothing, or it is not live. */
  whyWaiting(runId: string): string;
  /** Of ended runs; rejects as `listRuns` does. */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** Of a live run; undefined: it has ended or never was. */
  runState(runId: string): RunState | undefined;
  /** Puts new settings in force and hands them to every Node. */
  configure(settings: EdgeSettings): void;
  settings(): EdgeSettings;
  gauges(): EdgeGauges;
  /** Refuses new runs, then ends every one that is left. */
  stop(times: StopTimes): Promise<void>;
}

export interface EdgeGauges {
  nodesKnown: number;
  nodesReady: number;
  runsActive: number;
  runsQueued: number;
}

export interface EdgeDeps extends EdgeStateDeps {
  keys: KeyStore;
  secrets: Secrets;
  newRunId(): string;
  /** Detached runs of an earlier process. */
  restored: readonly RestoredRun[];
  /** Which parts work; whoever owns a part says so there. */
  health: Readiness;
}

export function createEdge(deps: EdgeDeps): Edge {
  const state = createEdgeState(deps);
  const { ctx } = state;
  const nodes = createNodes({ ctx, entries: state.nodes, changed: state.changed });
  const parts = createParts(state, deps);
  restoreRuns({ ...parts.start, nodes: state.nodes }, deps.restored);
  return {
    nodes,
    counters: ctx.counters,
    ...createDoorSide(state, deps, parts),
    ...createRunDoor(parts.start, () => state.settings.history.store === 'allow'),
    ...createOperatorSide(state),
    settings: () => state.settings,
    configure: (settings) => configure(state, settings),
    gauges: () => gaugesOf(state),
    async stop(times) {
      state.stopping = true;
      await endAllRuns(ctx, times);
      for (const node of state.nodes.values()) forgiveNode(node);
      letGo(state);
    },
  };
}

/** What is left is the next process's: no timer of this one may decide about it. */
function letGo({ ctx, nodes }: EdgeState): void {
  for (const node of nodes.values()) node.stopWaiting?.();
  for (const run of ctx.active.values()) {
    run.cancelDeadline?.();
    run.cancelWait?.();
    run.cancelStop?.();
  }
}

interface Parts {
  keys: KeyBook;
  access: KeyAccess;
  start: StartDeps;
}

function createParts(state: EdgeState, { keys: store, secrets, newRunId }: EdgeDeps): Parts {
  const { catalogue, ctx, line } = state;
  const keys = createKeyBook({ store, secrets, wall: () => ctx.clock.wall() });
  const access = createKeyAccess({ clock: ctx.clock, store, catalogue });
  let order = 0;
  const start = {
    ctx,
    keys: access,
    newRunId,
    nextOrder: () => ++order,
    isStopping: () => state.stopping,
    queued: () => line.length,
    explainNoNode: (select: RunSelect) => whyNotNow(state, select),
    explainBlocked: (select: RunSelect) => whyBlocked(state, select),
    catchUp: state.catchUp,
    isSettling: () => isSettling(state),
  };
  return { keys, access, start };
}

type DoorSide = Omit<EdgeDoor, keyof RunDoor> & EdgeKeys;

function createDoorSide(state: EdgeState, { health }: EdgeDeps, { keys, access, start }: Parts): DoorSide {
  const { ctx } = state;
  return {
    start: createStart(start),
    models: (keyId) => access.models(keyId),
    model: (name, keyId) => access.models(keyId).find((model) => model.name === name),
    checkKey: (presented) => keys.check(presented),
    readiness: () => (state.stopping ? { ready: false, detail: 'the Edge is stopping' } : health.check()),
    ...createEdgeKeys({ ctx, keys, access }),
  };
}

type OperatorSide = Pick<
  Edge,
  'listNodes' | 'listTargets' | 'listRuns' | 'readRun' | 'whyWaiting' | 'usage' | 'runState'
>;

function createOperatorSide(state: EdgeState): OperatorSide {
  const { catalogue, ctx, line, nodes } = state;
  const { active, records, clock, settings } = ctx;
  return {
    listNodes: () => [...nodes.values()].map((node) => viewNode(node, settings(), clock)),
    listTargets() {
      const all = [...nodes.values()];
      return viewTargets({ catalogue, line, nodes: all, settings: settings(), nowMs: clock.now() });
    },
    listRuns: (query) => listRuns(active, records, query),
    readRun: (request) => readRun(ctx, request),
    whyWaiting: (runId) => whyWaiting(state, active.get(runId)),
    usage: (query) => records.usage(query),
    runState: (runId) => active.get(runId)?.state,
  };
}

function configure(state: EdgeState, settings: EdgeSettings): void {
  state.settings = settings;
  for (const { linked, link, facts } of state.nodes.values()) {
    if (linked && facts !== undefined) link?.configure(planNodeConfig(settings, facts));
  }
  state.changed();
}

function gaugesOf({ nodes, ctx, line }: EdgeState): EdgeGauges {
  return {
    nodesKnown: nodes.size,
    nodesReady: [...nodes.values()].filter((node) => nodeState(node) === 'ready').length,
    runsActive: ctx.active.size,
    runsQueued: line.length,
  };
}
