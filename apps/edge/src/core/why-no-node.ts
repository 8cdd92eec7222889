import type { RunSelect } from './door.ts';
import { selects } from './node-config.ts';
import { type NodeEntry, nodeState } from './node-entry.ts';
import { problemWords } from './problem-words.ts';
import { askedOf } from './run-refusal.ts';
import type { EdgeSettings } from './settings.ts';
import type { TargetRef } from './target-book.ts';

export interface WhyDeps {
  settings: EdgeSettings;
  nodes: readonly NodeEntry[];
  refs: readonly TargetRef[];
  /** Milliseconds since 1970. */
  nowMs: number;
}

/** Why nothing can execute it now: each Node that might, and what is missing there. */
export function explainNoNode(select: RunSelect, deps: WhyDeps): string {
  const pinned = select.kind === 'target' ? select.node : undefined;
  if (pinned !== undefined && !deps.nodes.some((node) => node.name === pinned)) {
    return `Node ${pinned} is not known to this Edge`;
  }
  const reasons = deps.refs.flatMap((ref) => reasonsOf(ref, pinned, deps));
  if (reasons.length === 0) return `no Node is configured for ${askedOf(select)}`;
  return [...new Set(reasons)].slice(0, mostReasons).join('; ');
}

const mostReasons = 5;

function reasonsOf(ref: TargetRef, pinned: string | undefined, deps: WhyDeps): string[] {
  const set = deps.settings.adapters.find((adapter) => adapter.name === ref.adapter);
  if (set === undefined) return [`adapter ${ref.adapter} is not in edge.yaml`];
  const eligible = deps.nodes.filter((node) => {
    if (pinned !== undefined && node.name !== pinned) return false;
    const facts = node.facts ?? { name: node.name, labels: {} };
    return set.nodes.some((selector) => selects(selector, facts));
  });
  if (eligible.length === 0) return [`no Node has linked that adapter ${ref.adapter} is meant for`];
  return eligible.map((node) => `Node ${node.name} ${reasonOf(node, ref, deps.nowMs)}`);
}

function reasonOf(node: NodeEntry, ref: TargetRef, nowMs: number): string {
  const state = nodeState(node);
  if (state === 'away') return awayText(node, nowMs);
  if (state === 'draining') return 'is draining';
  if (node.problems.length > 0 && node.acceptedRevision === undefined) {
    return `refused its configuration: ${problemWords(node.problems)}`;
  }
  if (state === 'configuring') return 'has just linked and is not ready yet';
  const adapter = node.adapters?.find((each) => each.name === ref.adapter);
  if (adapter === undefined) return `does not offer adapter ${ref.adapter}`;
  if (!adapter.healthy) return `has ${ref.adapter} not healthy: ${adapter.detail}`;
  return `does not offer ${ref.target} in ${ref.adapter}`;
}

function awayText(node: NodeEntry, nowMs: number): string {
  if (node.lastSeenMs === undefined) return 'has not linked since the Edge started';
  return `is away since ${Math.max(0, Math.round((nowMs - node.lastSeenMs) / 1000))} s`;
}
