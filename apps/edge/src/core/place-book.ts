import { type NodeEntry, nodeState } from './node-entry.ts';
import { type Place, placesOn } from './places.ts';
import type { EdgeSettings } from './settings.ts';
import { refKey, type TargetRef } from './target-book.ts';

/** Every place that can execute now, by target. */
export interface PlaceBook {
  rebuild(settings: EdgeSettings, nodes: Iterable<NodeEntry>): void;
  of(ref: TargetRef): readonly Place[];
  /** Targets that have a place. */
  refs(): TargetRef[];
}

interface Kept extends Pick<NodeEntry, 'adapters' | 'facts'> {
  settings: EdgeSettings;
  places: readonly Place[];
}

const none: readonly Place[] = [];

export function createPlaceBook(): PlaceBook {
  const places = new Map<string, Place[]>();
  const keptOf = new WeakMap<NodeEntry, Kept>();

  /** Kept while nothing about the Node has changed: others of a large fleet come and go all the time. */
  function placesOf(node: NodeEntry, settings: EdgeSettings): readonly Place[] {
    if (nodeState(node) !== 'ready') return none;
    const kept = keptOf.get(node);
    if (kept?.settings === settings && kept.adapters === node.adapters && kept.facts === node.facts) {
      return kept.places;
    }
    const fresh = placesOn(node, settings);
    keptOf.set(node, { settings, adapters: node.adapters, facts: node.facts, places: fresh });
    return fresh;
  }

  return {
    rebuild(settings, nodes) {
      places.clear();
      for (const node of nodes) {
        for (const place of placesOf(node, settings)) {
          const list = places.get(place.key);
          if (list === undefined) places.set(place.key, [place]);
          else list.push(place);
        }
      }
    },
    of: (ref) => places.get(refKey(ref)) ?? none,
    refs: () => [...places.values()].flatMap((list) => list.slice(0, 1)),
  };
}
