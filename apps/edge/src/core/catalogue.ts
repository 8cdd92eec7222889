import type { RetryBoundary } from '@iop/runtime';
import type { ModelInfo, RunSelect } from './door.ts';
import { nearestNames } from './nearest.ts';
import { selects } from './node-config.ts';
import { type NodeEntry, nodeState, type Slot, slotOf } from './node-entry.ts';
import type { EdgeSettings, ModelSettings } from './settings.ts';
import { createTargetBook, refKey, type TargetBook, type TargetRef } from './target-book.ts';

/** One target on one Node that can execute now. */
export interface Place {
  readonly node: NodeEntry;
  readonly adapter: string;
  readonly target: string;
  readonly retry: RetryBoundary;
  readonly dialects: readonly string[];
  readonly adapterSlot: Slot;
  readonly targetSlot: Slot;
  /** 0: no limit. */
  readonly adapterLimit: number;
  readonly targetLimit: number;
}

/** What stands behind a name. Of several tiers the first that has a place is meant. */
export type Resolution =
  | { kind: 'known'; tiers: readonly (readonly Place[])[]; refs: readonly TargetRef[] }
  | { kind: 'unknown'; nearest: readonly string[] };

/** Public names (DESIGN §6) and the places behind them, rebuilt whenever a Node or the settings change. */
export interface Catalogue {
  rebuild(settings: EdgeSettings, nodes: Iterable<NodeEntry>): void;
  resolve(select: RunSelect): Resolution;
  models(): readonly ModelInfo[];
  /** Every target that is known, with its public names. */
  targets(): readonly KnownTarget[];
}

export interface KnownTarget extends TargetRef {
  readonly names: readonly string[];
  readonly places: readonly Place[];
}

/** @param wall milliseconds since 1970 */
export function createCatalogue(wall: () => number): Catalogue {
  return new LiveCatalogue(wall);
}

class LiveCatalogue implements Catalogue {
  readonly #book: TargetBook;
  readonly #places = new Map<string, Place[]>();
  readonly #cache = new Map<string, Resolution>();
  #adapters: ReadonlySet<string> = new Set();
  #fallbacks: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(wall: () => number) {
    this.#book = createTargetBook(wall);
  }

  rebuild(settings: EdgeSettings, nodes: Iterable<NodeEntry>): void {
    this.#adapters = new Set(settings.adapters.map((adapter) => adapter.name));
    this.#fallbacks = fallbacksOf(settings.models);
    this.#cache.clear();
    this.#places.clear();
    const found = [...nodes].flatMap((node) => placesOn(node, settings));
    this.#book.rebuild(settings, found);
    for (const place of found) {
      const list = this.#places.get(refKey(place));
      if (list === undefined) this.#places.set(refKey(place), [place]);
      else list.push(place);
    }
  }

  resolve(select: RunSelect): Resolution {
    // names of Nodes come from outside and would fill the cache
    if (select.kind === 'target' && select.node !== undefined) return this.#resolveTarget(select);
    const key = select.kind === 'model' ? select.model : refKey(select);
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const resolution =
      select.kind === 'model' ? this.#resolveModel(select.model) : this.#resolveTarget(select);
    if (resolution.kind === 'known') this.#cache.set(key, resolution);
    return resolution;
  }

  models(): readonly ModelInfo[] {
    const names = this.#book.names().filter((name) => !this.#fallbacks.has(name));
    const plain = names.map((name) => this.#infoOf(name, this.#book.refsOf(name)));
    const alias = [...this.#fallbacks].map(([name, wanted]) =>
      this.#infoOf(
        name,
        wanted.flatMap((each) => this.#refsOfName(each)),
      ),
    );
    return [...plain, ...alias];
  }

  targets(): readonly KnownTarget[] {
    return this.#book.all().map((ref) => ({
      ...ref,
      names: this.#book.namesOf(ref),
      places: this.#places.get(refKey(ref)) ?? [],
    }));
  }

  #resolveModel(model: string): Resolution {
    const names = this.#fallbacks.get(model) ?? [model];
    const refs = names.map((name) => this.#refsOfName(name));
    const all = refs.flat();
    if (all.length === 0) return this.#unknown(model);
    return { kind: 'known', tiers: refs.map((each) => this.#placesOf(each)), refs: all };
  }

  #resolveTarget({ adapter, target, node }: RunSelect & { kind: 'target' }): Resolution {
    const refs = this.#book.refsOfAdapter(adapter, target);
    if (refs.length === 0) return this.#unknown(`${adapter}/${target}`);
    const found = this.#placesOf(refs);
    const tier = node === undefined ? found : found.filter((place) => place.node.name === node);
    return { kind: 'known', tiers: [tier], refs };
  }

  #placesOf(refs: readonly TargetRef[]): Place[] {
    return refs.flatMap((ref) => this.#places.get(refKey(ref)) ?? []);
  }

  #refsOfName(name: string): readonly TargetRef[] {
    const exact = this.#book.refsOf(name);
    if (exact.length > 0) return exact;
    const cut = name.indexOf('/');
    if (cut < 1 || !this.#adapters.has(name.slice(0, cut))) return [];
    return this.#book.refsOfAdapter(name.slice(0, cut), name.slice(cut + 1));
  }

  #unknown(asked: string): Resolution {
    const scoped = this.#book.all().map((ref) => `${ref.adapter}/${ref.target}`);
    const plain = [...this.#book.names(), ...this.#fallbacks.keys()];
    const names = asked.includes('/') ? [...plain, ...scoped] : plain;
    return { kind: 'unknown', nearest: nearestNames(asked, names) };
  }

  #infoOf(name: string, refs: readonly TargetRef[]): ModelInfo {
    return {
      name,
      adapters: [...new Set(refs.map((ref) => ref.adapter))],
      createdS: this.#book.firstSeenS(name),
      available: refs.some((ref) => this.#places.has(refKey(ref))),
    };
  }
}

function fallbacksOf(models: readonly ModelSettings[]): Map<string, readonly string[]> {
  const fallbacks = new Map<string, readonly string[]>();
  for (const model of models) if (model.kind === 'fallback') fallbacks.set(model.name, model.fallback);
  return fallbacks;
}

/** Every healthy target of a ready Node, as far as the settings still give it that adapter. */
function placesOn(node: NodeEntry, settings: EdgeSettings): Place[] {
  const { facts } = node;
  if (nodeState(node) !== 'ready' || facts === undefined) return [];
  return (node.adapters ?? []).flatMap((adapter) => {
    const set = settings.adapters.find((each) => each.name === adapter.name);
    if (!adapter.healthy || set === undefined) return [];
    if (!set.nodes.some((selector) => selects(selector, facts))) return [];
    return adapter.targets.map((target) => ({
      node,
      adapter: adapter.name,
      target: target.name,
      retry: adapter.retry,
      dialects: adapter.dialects,
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
