import type { AdapterCapabilities } from '../ports/node-link.ts';
import type { NodeEntry } from './node-entry.ts';
import { forgiveNode } from './place-health.ts';
import type { RunContext } from './run.ts';
import { changesOf, type TargetChange } from './target-changes.ts';

/** Takes what a Node says that it can do; tells what is new since it last said so. */
export function adoptCapabilities(
  { counters }: RunContext,
  node: NodeEntry,
  adapters: readonly AdapterCapabilities[],
): readonly TargetChange[] {
  const before = node.lastAdapters ?? [];
  const changes = changesOf(before, adapters);
  for (const adapter of adapters) if (hasRecovered(adapter, before)) forgiveNode(node, adapter.name);
  node.adapters = adapters;
  node.lastAdapters = adapters;
  for (const { kind } of changes) {
    if (kind === 'appeared') counters.targetsAppeared++;
    if (kind === 'gone') counters.targetsGone++;
  }
  return changes;
}

/** A health report turned good: what runs met before says nothing any more. */
function hasRecovered(now: AdapterCapabilities, before: readonly AdapterCapabilities[]): boolean {
  return now.healthy && before.some(({ name, healthy }) => name === now.name && !healthy);
}
