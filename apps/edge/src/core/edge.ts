import type { CancelCause, RunState } from '@iop/domain';
import type { KeyStore, StoredKey } from '../ports/key-store.ts';
import type { RunQuery, RunRecord } from '../ports/run-records.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Counters } from './counters.ts';
import type { EdgeDoor } from './door.ts';
import { createEdgeState, type EdgeState, type EdgeStateDeps } from './edge-state.ts';
import { endAllRuns, type StopTimes } from './edge-stop.ts';
import { createKeyBook } from './key-book.ts';
import { planNodeConfig } from './node-config.ts';
import { nodeState } from './node-entry.ts';
import { createNodes, type Nodes } from './nodes.ts';
import type { Readiness } from './readiness.ts';
import { cancelRun } from './run-cancel.ts';
import { listRuns } from './run-list.ts';
import { createStart } from './run-start.ts';
import type { EdgeSettings } from './settings.ts';
import { type NodeView, type TargetView, viewNode, viewTargets } from './views.ts';
import { isSettling, whyNotNow } from './why-not-now.ts';

/** The application core: every door, operator and link calls this one. See apps/edge/DESIGN.md. */
export interface Edge extends EdgeDoor {
  /** Driven by the links of Nodes. */
  readonly nodes: Nodes;
  readonly counters: Counters;
  listNodes(): NodeView[];
  listTargets(): TargetView[];
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  /** Of a live run; undefined: it has ended or never was. */
  runState(runId: string): RunState | undefined;
  cancelRun(runId: string, by: CancelCause): Promise<CancelOutcome>;
  createKey(name: string): Promise<{ key: StoredKey; secret: string }>;
  listKeys(): readonly StoredKey[];
  revokeKey(id: string): Promise<StoredKey | undefined>;
  /** Puts new settings in force and hands them to every Node. */
  configure(settings: EdgeSettings): void;
  settings(): EdgeSettings;
  gauges(): EdgeGauges;
  /** Refuses new runs, then ends every one that is left. */
  stop(times: StopTimes): Promise<void>;
}

export type CancelOutcome =
  | { kind: 'taken'; state: RunState }
  | { kind: 'already-ended'; state: RunState }
  | { kind: 'unknown-run' };

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
  /** Which parts work; whoever owns a part says so there. */
  health: Readiness;
}

export function createEdge(deps: EdgeDeps): Edge {
  const state = createEdgeState(deps);
  const { ctx } = state;
  const nodes = createNodes({ ctx, entries: state.nodes, changed: state.changed });
  return {
    nodes,
    counters: ctx.counters,
    ...createDoorSide(state, deps),
    ...createOperatorSide(state),
    settings: () => state.settings,
    configure: (settings) => configure(state, settings),
    gauges: () => gaugesOf(state),
    async stop(times) {
      state.stopping = true;
      await endAllRuns(ctx, times);
    },
  };
}

type KeySide = Pick<Edge, 'createKey' | 'listKeys' | 'revokeKey'>;

function createDoorSide(state: EdgeState, deps: EdgeDeps): EdgeDoor & KeySide {
  const { catalogue, ctx, line } = state;
  const { health, secrets, newRunId } = deps;
  const keys = createKeyBook({ store: deps.keys, secrets, wall: () => ctx.clock.wall() });
  return {
    start: createStart({
      ctx,
      newRunId,
      isStopping: () => state.stopping,
      queued: () => line.length,
      explainNoNode: (select) => whyNotNow(state, select),
      catchUp: state.catchUp,
      isSettling: () => isSettling(state),
    }),
    models: () => catalogue.models(),
    model: (name) => catalogue.models().find((model) => model.name === name),
    checkKey: (presented) => keys.check(presented),
    readiness: () => (state.stopping ? { ready: false, detail: 'the Edge is stopping' } : health.check()),
    createKey: (name) => keys.create(name),
    listKeys: () => keys.list(),
    revokeKey: (id) => keys.revoke(id),
  };
}

type OperatorSide = Pick<Edge, 'listNodes' | 'listTargets' | 'listRuns' | 'runState' | 'cancelRun'>;

function createOperatorSide({ catalogue, ctx, line, nodes }: EdgeState): OperatorSide {
  const { active, records, clock, settings } = ctx;
  return {
    listNodes: () => [...nodes.values()].map((node) => viewNode(node, settings(), clock.wall())),
    listTargets: () => viewTargets(catalogue, line, nodes.values()),
    listRuns: (query) => listRuns(active, records, query),
    runState: (runId) => active.get(runId)?.state,
    async cancelRun(runId, by) {
      const run = active.get(runId);
      if (run !== undefined) {
        cancelRun(ctx, run, by);
        return { kind: 'taken', state: run.state };
      }
      const record = await records.find(runId);
      return record === undefined ? { kind: 'unknown-run' } : { kind: 'already-ended', state: record.state };
    },
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
