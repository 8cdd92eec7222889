import type { CancelCause, Clock, RunState } from '@iop/domain';
import type { KeyStore, StoredKey } from '../ports/key-store.ts';
import type { RunQuery, RunRecord, RunRecords } from '../ports/run-records.ts';
import type { Secrets } from '../ports/secrets.ts';
import { createAdmission } from './admission.ts';
import { attemptEvents } from './attempt-events.ts';
import { createCatalogue } from './catalogue.ts';
import { type Counters, createCounters } from './counters.ts';
import type { EdgeDoor, RunSelect } from './door.ts';
import { endAllRuns, type StopTimes } from './edge-stop.ts';
import { createKeyBook } from './key-book.ts';
import { planNodeConfig } from './node-config.ts';
import { createNodeEntry, type NodeEntry, nodeState } from './node-entry.ts';
import { createNodes, type Nodes } from './nodes.ts';
import type { Readiness } from './readiness.ts';
import type { Run, RunContext } from './run.ts';
import { cancelRun } from './run-cancel.ts';
import { listRuns } from './run-list.ts';
import { createStart } from './run-start.ts';
import type { EdgeSettings } from './settings.ts';
import { type NodeView, type TargetView, viewNode, viewTargets } from './views.ts';
import { createWaitingLine } from './waiting-line.ts';
import { explainNoNode } from './why-no-node.ts';

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

export interface EdgeDeps {
  clock: Clock;
  settings: EdgeSettings;
  records: RunRecords;
  keys: KeyStore;
  secrets: Secrets;
  newRunId(): string;
  /** Nodes that enrolled before this process began. */
  knownNodes: readonly string[];
  /** Which parts work; whoever owns a part says so there. */
  health: Readiness;
}

/** After a start, an unknown name may be one of a Node that is on its way back. */
const settleMs = 30_000;
const comesSoonMs = 2000;
const mostNames = 5;

export function createEdge(deps: EdgeDeps): Edge {
  const { clock, records } = deps;
  let settings = deps.settings;
  let stopping = false;
  const startedAtMs = clock.now();
  const entries = new Map<string, NodeEntry>(deps.knownNodes.map((name) => [name, createNodeEntry(name)]));
  const line = createWaitingLine();
  const catalogue = createCatalogue(() => clock.wall());
  const nodeLimit = () => settings.limits.nodeConcurrency;
  const admission = createAdmission({ catalogue, line, nodeLimit });
  const counters = createCounters();
  const active = new Map<string, Run>();
  const ctx: RunContext = {
    clock,
    settings: () => settings,
    admission,
    records,
    counters,
    active,
    handlers: attemptEvents,
  };
  const { health } = deps;
  const keys = createKeyBook({ store: deps.keys, secrets: deps.secrets, wall: () => clock.wall() });
  const changed = once(clock, () => {
    catalogue.rebuild(settings, entries.values());
    admission.retry();
  });
  const nodes = createNodes({ ctx, entries, changed });
  const start = createStart({
    ctx,
    newRunId: deps.newRunId,
    isStopping: () => stopping,
    queued: () => line.length,
    explainNoNode: whyNoNode,
    isSettling: () => clock.now() - startedAtMs < settleMs && [...entries.values()].some(isExpected),
  });
  catalogue.rebuild(settings, entries.values());

  function whyNoNode(select: RunSelect): { detail: string; retryAfterMs: number } {
    const found = catalogue.resolve(select);
    const nodes = [...entries.values()];
    const detail =
      found.kind === 'known'
        ? explainNoNode(select, { settings, nodes, refs: found.refs, nowMs: clock.wall() })
        : `the Edge has just started and waits for Nodes: ${namesOf(nodes.filter(isExpected))}`;
    return { detail, retryAfterMs: comesSoonMs };
  }

  function models() {
    return catalogue.models();
  }

  return {
    start,
    nodes,
    counters,
    models,
    model: (name) => models().find((model) => model.name === name),
    checkKey: (presented) => keys.check(presented),
    readiness: () => (stopping ? { ready: false, detail: 'the Edge is stopping' } : health.check()),
    listNodes: () => [...entries.values()].map((node) => viewNode(node, settings, clock.wall())),
    listTargets: () => viewTargets(catalogue, line, entries.values()),
    listRuns: (query) => listRuns(active, records, query),
    runState: (runId) => active.get(runId)?.state,
    async cancelRun(runId, by) {
      const run = active.get(runId);
      if (run === undefined) {
        const record = await records.find(runId);
        return record === undefined
          ? { kind: 'unknown-run' }
          : { kind: 'already-ended', state: record.state };
      }
      cancelRun(ctx, run, by);
      return { kind: 'taken', state: run.state };
    },
    createKey: (name) => keys.create(name),
    listKeys: () => keys.list(),
    revokeKey: (id) => keys.revoke(id),
    configure(next) {
      settings = next;
      for (const { linked, link, facts } of entries.values()) {
        if (linked && facts !== undefined) link?.configure(planNodeConfig(settings, facts));
      }
      changed();
    },
    settings: () => settings,
    gauges: () => ({
      nodesKnown: entries.size,
      nodesReady: [...entries.values()].filter((node) => nodeState(node) === 'ready').length,
      runsActive: active.size,
      runsQueued: line.length,
    }),
    async stop(times) {
      stopping = true;
      await endAllRuns(ctx, times);
    },
  };
}

/** Known from before, not heard of since this process began. */
function isExpected(node: NodeEntry): boolean {
  return node.facts === undefined || (node.linked && nodeState(node) === 'configuring');
}

function namesOf(nodes: readonly NodeEntry[]): string {
  const names = nodes.slice(0, mostNames).map((node) => node.name);
  return nodes.length > mostNames ? `${names.join(', ')} and others` : names.join(', ');
}

/** Many changes of one tick are one change. */
function once(clock: Clock, apply: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    clock.soon(() => {
      isDue = false;
      apply();
    });
  };
}
