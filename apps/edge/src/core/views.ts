import type { Clock } from '@iop/domain';
import type { UpstreamLoad } from '@iop/runtime';
import type { AdapterCapabilities } from '../ports/node-link.ts';
import { type NodeEntry, type NodeState, nodeState, slotOf } from './node-entry.ts';
import { troubleWords } from './place-health.ts';
import { problemWords } from './problem-words.ts';
import type { EdgeSettings } from './settings.ts';

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
  adapters: readonly AdapterView[];
  /** Milliseconds since 1970; undefined: not since the Edge started. */
  lastSeenMs: number | undefined;
}

export interface AdapterView extends AdapterCapabilities {
  load: UpstreamLoad | undefined;
  /** Why it is given no runs for now; empty: nothing is wrong. */
  breaker: string;
}

export function viewNode(node: NodeEntry, settings: EdgeSettings, clock: Clock): NodeView {
  return {
    name: node.name,
    state: nodeState(node),
    detail: detailOf(node, settings),
    epoch: node.facts?.epoch ?? 0,
    address: node.facts?.address ?? '',
    build: node.facts?.build ?? '',
    labels: node.facts?.labels ?? {},
    running: node.total.running,
    adapters: (node.adapters ?? []).map((adapter) => ({
      ...adapter,
      load: node.loads.get(adapter.name),
      breaker: troubleWords([slotOf(node, adapter.name)], clock.now()),
    })),
    lastSeenMs: node.linked ? clock.wall() : node.lastSeenMs,
  };
}

function detailOf(node: NodeEntry, settings: EdgeSettings): string {
  if (!node.linked) return node.facts === undefined ? 'not linked since the Edge started' : '';
  if (node.problems.length > 0) {
    return `refused configuration revision ${settings.revision}: ${problemWords(node.problems)}`;
  }
  if (!node.reconciled) return 'waiting for its inventory of runs';
  if (node.acceptedRevision === undefined) return 'waiting for it to take its configuration';
  if (node.adapters === undefined) return 'waiting for its capabilities';
  if (node.adapters.length === 0) return 'no adapter is meant for it: see adapters[].nodes in edge.yaml';
  return '';
}
