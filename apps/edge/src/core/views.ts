import type { AdapterCapabilities, AdapterLoads } from '../ports/node-link.ts';
import type { Catalogue } from './catalogue.ts';
import { type NodeEntry, type NodeState, nodeState, runningOn } from './node-entry.ts';
import type { EdgeSettings } from './settings.ts';
import { refKey } from './target-book.ts';
import type { WaitingLine } from './waiting-line.ts';

/** A Node, for operators. */
export interface NodeView {
  name: string;
  state: NodeState;
  /** Why it is not ready, or what is wrong with its configuration; empty when all is well. */
  detail: string;
  epoch: number;
  address: string;
  build: string;
  labels: Readonly<Record<string, string>>;
  running: number;
  adapters: readonly AdapterCapabilities[];
  /** Of its upstreams, by adapter. */
  loads: AdapterLoads;
  /** Milliseconds since 1970; undefined: not since the Edge started. */
  lastSeenMs: number | undefined;
}

/** A target under one of its public names, for operators. */
export interface TargetView {
  name: string;
  adapter: string;
  target: string;
  /** Where it can run now. */
  nodes: readonly string[];
  running: number;
  /** Runs in line that it could take. */
  queued: number;
}

export function viewNode(node: NodeEntry, settings: EdgeSettings, nowMs: number): NodeView {
  return {
    name: node.name,
    state: nodeState(node),
    detail: detailOf(node, settings),
    epoch: node.facts?.epoch ?? 0,
    address: node.facts?.address ?? '',
    build: node.facts?.build ?? '',
    labels: node.facts?.labels ?? {},
    running: node.total.running,
    adapters: node.adapters ?? [],
    loads: node.loads,
    lastSeenMs: node.linked ? nowMs : node.lastSeenMs,
  };
}

function detailOf(node: NodeEntry, settings: EdgeSettings): string {
  if (!node.linked) return node.facts === undefined ? 'not linked since the Edge started' : '';
  if (node.problems.length > 0) {
    return `refused configuration revision ${settings.revision}: ${node.problems.join('; ')}`;
  }
  if (!node.reconciled) return 'waiting for its inventory of runs';
  if (node.acceptedRevision === undefined) return 'waiting for it to take its configuration';
  if (node.adapters === undefined) return 'waiting for its capabilities';
  if (node.adapters.length === 0) return 'no adapter is meant for it: see adapters[].nodes in edge.yaml';
  return '';
}

export function viewTargets(
  catalogue: Catalogue,
  line: WaitingLine,
  nodes: Iterable<NodeEntry>,
): TargetView[] {
  const queued = countQueued(catalogue, line);
  const all = [...nodes];
  return catalogue.targets().flatMap(({ adapter, target, names, places }) => {
    const running = all.reduce((sum, node) => sum + runningOn(node, adapter, target), 0);
    const rest = {
      adapter,
      target,
      nodes: places.map((place) => place.node.name),
      running,
      queued: queued.get(refKey({ adapter, target })) ?? 0,
    };
    return names.map((name) => ({ name, ...rest }));
  });
}

function countQueued(catalogue: Catalogue, line: WaitingLine): Map<string, number> {
  const queued = new Map<string, number>();
  for (const waiter of line.all()) {
    const resolution = catalogue.resolve(waiter.demand.select);
    if (resolution.kind === 'unknown') continue;
    for (const ref of resolution.refs) queued.set(refKey(ref), (queued.get(refKey(ref)) ?? 0) + 1);
  }
  return queued;
}
