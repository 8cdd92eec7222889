import type { NodeConfig } from '../ports/node-link.ts';
import type { NodeFacts } from './node-entry.ts';
import type { EdgeSettings } from './settings.ts';

/** What of the Edge's configuration is meant for this Node. */
export function planNodeConfig(settings: EdgeSettings, node: Pick<NodeFacts, 'name' | 'labels'>): NodeConfig {
  return {
    revision: settings.revision,
    adapters: settings.adapters.filter((adapter) => adapter.nodes.some((text) => selects(text, node))),
    stallAfterMs: settings.limits.stallAfterMs,
    orphanAfterMs: settings.limits.orphanAfterMs,
    // then this Edge has given them up
    detachedOrphanAfterMs: settings.limits.detachedLostAfterMs,
  };
}

/** "*", a Node's name, or `key=value` of its labels. */
export function selects(selector: string, node: Pick<NodeFacts, 'name' | 'labels'>): boolean {
  if (selector === '*' || selector === node.name) return true;
  const cut = selector.indexOf('=');
  if (cut < 1) return false;
  return node.labels[selector.slice(0, cut)] === selector.slice(cut + 1);
}
