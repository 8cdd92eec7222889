import type { ModelInfo, RunSelect } from './door.ts';
import { nearestNames } from './nearest.ts';
import type { NodeEntry } from './node-entry.ts';
import { createPlaceBook } from './place-book.ts';
import type { Place } from './places.ts';
import type { AliasSettings, EdgeSettings, ModelSettings } from './settings.ts';
import { createTargetBook, refKey, type TargetBook, type TargetRef } from './target-book.ts';
import { newShares, plainTier, type Shares, type Tier, tiersOf } from './tiers.ts';

/** What stands behind a name. Of several tiers the first that has a place is meant. */
export type Resolution =
  | { kind: 'known'; tiers: readonly Tier[]; refs: readonly TargetRef[] }
  | { kind: 'unknown'; nearest: readonly string[] };

/** Public names (DESIGN §6) and the places behind them, rebuilt whenever a Node or the settings change. */
export interface Catalogue {
  /** Grows with every rebuild. */
  readonly version: number;
  rebuild(settings: EdgeSettings, nodes: Iterable<NodeEntry>): void;
  resolve(select: RunSelect): Resolution;
  models(): readonly ModelInfo[];
  /** Public names of a target. */
  namesOf(ref: TargetRef): readonly string[];
  /** Known names near to `asked` that are allowed. */
  nearest(asked: string, isAllowed: (name: string) => boolean): readonly string[];
  aliases(): readonly AliasSettings[];
  /** What a name that an alias leads to stands for. */
  refsOf(name: string): readonly TargetRef[];
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
  readonly #places = createPlaceBook();
  readonly #cache = new Map<string, Resolution>();
  #adapters: ReadonlySet<string> = new Set();
  #aliases: ReadonlyMap<string, AliasSettings> = new Map();
  #shares = new Map<string, Shares>();
  version = 0;

  constructor(wall: () => number) {
    this.#book = createTargetBook(wall);
  }

  rebuild(settings: EdgeSettings, nodes: Iterable<NodeEntry>): void {
    this.#adapters = new Set(settings.adapters.map((adapter) => adapter.name));
    this.#aliases = aliasesOf(settings.models);
    this.version++;
    this.#cache.clear();
    this.#places.rebuild(settings, nodes);
    this.#book.rebuild(settings, this.#places.refs());
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
    const names = this.#book.names().filter((name) => !this.#aliases.has(name));
    const plain = names.map((name) => this.#infoOf(name, this.#book.refsOf(name)));
    const aliases = [...this.#aliases.values()].map((alias) =>
      this.#infoOf(alias.name, this.#refsOfAlias(alias)),
    );
    return [...plain, ...aliases];
  }

  namesOf(ref: TargetRef): readonly string[] {
    return this.#book.namesOf(ref);
  }

  refsOf(name: string): readonly TargetRef[] {
    return this.#refsOfName(name);
  }

  aliases(): readonly AliasSettings[] {
    return [...this.#aliases.values()];
  }

  nearest(asked: string, isAllowed: (name: string) => boolean): readonly string[] {
    return nearestNames(asked, this.#allNames(asked).filter(isAllowed));
  }

  targets(): readonly KnownTarget[] {
    return this.#book.all().map((ref) => ({
      ...ref,
      names: this.#book.namesOf(ref),
      places: this.#places.of(ref),
    }));
  }

  #resolveModel(model: string): Resolution {
    const alias = this.#aliases.get(model);
    const refs = alias === undefined ? this.#refsOfName(model) : this.#refsOfAlias(alias);
    if (refs.length === 0) return this.#unknown(model);
    if (alias === undefined) return { kind: 'known', tiers: [plainTier(this.#placesOf(refs))], refs };
    const placesOf = (name: string) => this.#placesOf(this.#refsOfName(name));
    const sharesOf = (key: string) => this.#sharesOf(key);
    return { kind: 'known', tiers: tiersOf(alias, { placesOf, sharesOf }), refs };
  }

  #refsOfAlias({ tiers }: AliasSettings): TargetRef[] {
    return tiers.flat().flatMap((route) => this.#refsOfName(route.name));
  }

  /** Who has had how much outlives a rebuild. */
  #sharesOf(key: string): Shares {
    let shares = this.#shares.get(key);
    if (shares !== undefined) return shares;
    shares = newShares();
    this.#shares.set(key, shares);
    return shares;
  }

  #resolveTarget({ adapter, target, node }: RunSelect & { kind: 'target' }): Resolution {
    const refs = this.#book.refsOfAdapter(adapter, target);
    if (refs.length === 0) return this.#unknown(`${adapter}/${target}`);
    const found = this.#placesOf(refs);
    const tier = node === undefined ? found : found.filter((place) => place.node.name === node);
    return { kind: 'known', tiers: [plainTier(tier)], refs };
  }

  #placesOf(refs: readonly TargetRef[]): Place[] {
    return refs.flatMap((ref) => this.#places.of(ref));
  }

  #refsOfName(name: string): readonly TargetRef[] {
    const exact = this.#book.refsOf(name);
    if (exact.length > 0) return exact;
    const cut = name.indexOf('/');
    if (cut < 1 || !this.#adapters.has(name.slice(0, cut))) return [];
    return this.#book.refsOfAdapter(name.slice(0, cut), name.slice(cut + 1));
  }

  #unknown(asked: string): Resolution {
    return { kind: 'unknown', nearest: nearestNames(asked, this.#allNames(asked)) };
  }

  /** Those of single adapters only for whoever asked for one. */
  #allNames(asked: string): string[] {
    const plain = [...this.#book.names(), ...this.#aliases.keys()];
    if (!asked.includes('/')) return plain;
    return [...plain, ...this.#book.all().map((ref) => `${ref.adapter}/${ref.target}`)];
  }

  #infoOf(name: string, refs: readonly TargetRef[]): ModelInfo {
    return {
      name,
      adapters: [...new Set(refs.map((ref) => ref.adapter))],
      createdS: this.#book.firstSeenS(name),
      available: refs.some((ref) => this.#places.of(ref).length > 0),
    };
  }
}

function aliasesOf(models: readonly ModelSettings[]): Map<string, AliasSettings> {
  return new Map(models.flatMap((model) => (model.kind === 'alias' ? [[model.name, model] as const] : [])));
}
