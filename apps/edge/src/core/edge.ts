import type { CancelCause, RunState } from '@iop/domain';
import type { KeyStore } from '../ports/key-store.ts';
import type { RunQuery, RunRecord, UsageQuery, UsageSum } from '../ports/run-records.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Counters } from './counters.ts';
import type { EdgeDoor } from './door.ts';
import { createEdgeKeys, type EdgeKeys } from './edge-keys.ts';
import { createEdgeState, type EdgeState, type EdgeStateDeps } from './edge-state.ts';
import { endAllRuns, type StopTimes } from './edge-stop.ts';
import { createKeyAccess } from './key-access.ts';
import { createKeyBook } from './key-book.ts';
import { planNodeConfig } from './node-config.ts';
import { nodeState } from './node-entry.ts';
import { createNodes, type Nodes } from './nodes.ts';
import { forgiveNode } from './place-health.ts';
import type { Readiness } from './readiness.ts';
import { recordOf } from './run.ts';
import { cancelRun } from './run-cancel.ts';
import { listRuns } from './run-list.ts';
import { createStart } from './run-start.ts';
import type { EdgeSettings } from './settings.ts';
import { type TargetView, viewTargets } from './target-view.ts';
import { type NodeView, viewNode } from './views.ts';
import { isSettling, whyBlocked, whyNotNow } from './why-not-now.ts';

/** The application core: every door, operator and link calls this one. See apps/edge/DESIGN.md. */
export interface Edge extends EdgeDoor, EdgeKeys {
  /** Driven by the links of Nodes. */
  readonly nodes: Nodes;
  readonly counters: Counters;
  listNodes(): NodeView[];
  listTargets(): TargetView[];
  listRuns(query: RunQuery): Promise<RunRecord[]>;
  findRun(runId: string): Promise<RunRecord | undefined>;
  /** Of ended runs; rejects as `listRuns` does. */
  usage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** Of a live run; undefined: it has ended or never was. */
  runState(runId: string): RunState | undefined;
  cancelRun(runId: string, by: CancelCause): Promise<CancelOutcome>;
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
      for (const node of state.nodes.values()) forgiveNode(node);
    },
  };
}

function createDoorSide(state: EdgeState, deps: EdgeDeps): EdgeDoor & EdgeKeys {
  const { catalogue, ctx, line } = state;
  const { health, secrets, newRunId } = deps;
  const keys = createKeyBook({ store: deps.keys, secrets, wall: () => ctx.clock.wall() });
  const access = createKeyAccess({ clock: ctx.clock, store: deps.keys, catalogue });
  return {
    start: createStart({
      ctx,
      keys: access,
      newRunId,
      isStopping: () => state.stopping,
      queued: () => line.length,
      explainNoNode: (select) => whyNotNow(state, select),
      explainBlocked: (select) => whyBlocked(state, select),
      catchUp: state.catchUp,
      isSettling: () => isSettling(state),
    }),
    models: (keyId) => access.models(keyId),
    model: (name, keyId) => access.models(keyId).find((model) => model.name === name),
    checkKey: (presented) => keys.check(presented),
    readiness: () => (state.stopping ? { ready: false, detail: 'the Edge is stopping' } : health.check()),
    ...createEdgeKeys({ ctx, keys, access }),
  };
}

type OperatorSide = Pick<
  Edge,
  'listNodes' | 'listTargets' | 'listRuns' | 'findRun' | 'usage' | 'runState' | 'cancelRun'
>;

function createOperatorSide({ catalogue, ctx, line, nodes }: EdgeState): OperatorSide {
  const { active, records, clock, settings } = ctx;
  return {
    listNodes: () => [...nodes.values()].map((node) => viewNode(node, settings(), clock)),
    listTargets() {
      const all = [...nodes.values()];
      return viewTargets({ catalogue, line, nodes: all, settings: settings(), nowMs: clock.now() });
    },
    listRuns: (query) => listRuns(active, records, query),
    async findRun(runId) {
      const run = active.get(runId);
      return run === undefined ? await records.find(runId) : recordOf(run);
    },
    usage: (query) => records.usage(query),
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
