import type { RunSelect } from './door.ts';
import type { EdgeState } from './edge-state.ts';
import { type NodeEntry, nodeState } from './node-entry.ts';
import { troubleWords } from './place-health.ts';
import { explainNoNode } from './why-no-node.ts';

/** After a start, an unknown name may be one of a Node that is on its way back. */
const settleMs = 30_000;
const comesSoonMs = 2000;
const mostNames = 5;

/** Nodes that the Edge knows are still missing since it started. */
export function isSettling({ ctx, startedAtMs, nodes }: EdgeState): boolean {
  return ctx.clock.now() - startedAtMs < settleMs && [...nodes.values()].some(isExpected);
}

/** Why nothing can execute it now, and when to ask again. */
export function whyNotNow(state: EdgeState, select: RunSelect): { detail: string; retryAfterMs: number } {
  const { catalogue, settings, ctx } = state;
  const nodes = [...state.nodes.values()];
  const found = catalogue.resolve(select);
  if (found.kind === 'unknown') {
    const names = namesOf(nodes.filter(isExpected));
    return { detail: `the Edge has just started and waits for Nodes: ${names}`, retryAfterMs: comesSoonMs };
  }
  const why = { settings, nodes, refs: found.refs, nowMs: ctx.clock.wall() };
  return { detail: explainNoNode(select, why), retryAfterMs: comesSoonMs };
}

/** What keeps runs away from each place that this could have. */
export function whyBlocked({ catalogue, ctx }: EdgeState, select: RunSelect): string {
  const found = catalogue.resolve(select);
  if (found.kind === 'unknown') return '';
  const places = found.tiers.flatMap((tier) => tier.routes.flatMap((route) => route.places));
  const nowMs = ctx.clock.now();
  const reasons = places.flatMap(({ node, adapter, target, adapterSlot, targetSlot }) => {
    const words = troubleWords([adapterSlot, targetSlot], nowMs);
    return words === '' ? [] : [`Node ${node.name} ${adapter}/${target}: ${words}`];
  });
  return [...new Set(reasons)].slice(0, mostNames).join('; ');
}

/** Known from before, not heard of since this process began. */
function isExpected(node: NodeEntry): boolean {
  return node.facts === undefined || (node.linked && nodeState(node) === 'configuring');
}

function namesOf(nodes: readonly NodeEntry[]): string {
  const names = nodes.slice(0, mostNames).map((node) => node.name);
  return nodes.length > mostNames ? `${names.join(', ')} and others` : names.join(', ');
}
