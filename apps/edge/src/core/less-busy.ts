import type { Place } from './places.ts';

/**
 * An upstream in which somebody waits is worse than any in which nobody does. Then fewest runs on the Node, those
 * of other callers included where its upstream tells; then on the adapter; then who was picked longest ago.
 */
export function isLessBusy(a: Place, b: Place): boolean {
  const waitsB = isQueued(b);
  if (isQueued(a) !== waitsB) return waitsB;
  const runsA = runsOf(a);
  const runsB = runsOf(b);
  if (runsA !== runsB) return runsA < runsB;
  if (a.adapterSlot.running !== b.adapterSlot.running) return a.adapterSlot.running < b.adapterSlot.running;
  return a.node.lastPick < b.node.lastPick;
}

function isQueued({ node, adapter }: Place): boolean {
  return node.loads.size > 0 && (node.loads.get(adapter)?.waiting ?? 0) > 0;
}

function runsOf({ node, adapter }: Place): number {
  const { running } = node.total;
  return node.loads.size === 0 ? running : Math.max(running, node.loads.get(adapter)?.running ?? 0);
}
