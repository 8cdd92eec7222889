import type { RetryBoundary } from '@iop/runtime';
import { selects } from './node-config.ts';
import { type NodeEntry, type Slot, slotOf } from './node-entry.ts';
import type { EdgeSettings } from './settings.ts';
import { refKey } from './target-book.ts';

/** One target on one Node that can execute now. */
export interface Place {
  /** `refKey` of adapter and target. */
  readonly key: string;
  /** Of Node, adapter and target: the same after a rebuild. */
  readonly id: string;
  readonly node: NodeEntry;
  readonly adapter: string;
  readonly target: string;
  readonly retry: RetryBoundary;
  readonly dialects: readonly string[];
  /** Runs may be kept away from it after failures. */
  readonly breaks: boolean;
  readonly adapterSlot: Slot;
  readonly targetSlot: Slot;
  /** 0: no limit. */
  readonly adapterLimit: number;
  readonly targetLimit: number;
}

/** Every healthy target of a Node, as far as the settings still give it that adapter. */
export function placesOn(node: NodeEntry, settings: EdgeSettings): Place[] {
  const { facts } = node;
  if (facts === undefined) return [];
  return (node.adapters ?? []).flatMap((adapter) => {
    const set = settings.adapters.find((each) => each.name === adapter.name);
    if (!adapter.healthy || set === undefined) return [];
    if (!set.nodes.some((selector) => selects(selector, facts))) return [];
    return adapter.targets.map((target) => ({
      key: refKey({ adapter: adapter.name, target: target.name }),
      id: `${node.name}\0${refKey({ adapter: adapter.name, target: target.name })}`,
      node,
      adapter: adapter.name,
      target: target.name,
      retry: adapter.retry,
      dialects: adapter.dialects,
      breaks: set.breaker ?? true,
      adapterSlot: slotOf(node, adapter.name),
      targetSlot: slotOf(node, adapter.name, target.name),
      adapterLimit: set.concurrency,
      targetLimit: targetLimit(settings, adapter.name, target.name),
    }));
  });
}

/** The smallest limit that anybody set for it; 0: nobody did. */
function targetLimit(settings: EdgeSettings, adapter: string, target: string): number {
  const ofAdapter = settings.adapters.find((each) => each.name === adapter)?.targets ?? [];
  const limits = [
    ...ofAdapter.filter((each) => each.name === target).map((each) => each.concurrency),
    ...settings.models.map((model) =>
      model.kind === 'target' && model.adapter === adapter && model.target === target ? model.concurrency : 0,
    ),
  ].filter((limit) => limit > 0);
  return limits.length === 0 ? 0 : Math.min(...limits);
}
