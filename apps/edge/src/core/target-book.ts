import type { EdgeSettings } from './settings.ts';

export interface TargetRef {
  readonly adapter: string;
  readonly target: string;
}

export function refKey(ref: TargetRef): string {
  return `${ref.adapter}\0${ref.target}`;
}

/**
 * Which targets are known and under which names: configured ones, and those that a Node ever named while
 * this Edge lives. A target whose Node is away stays known; it is then "no Node up", not "no such model".
 */
export interface TargetBook {
  rebuild(settings: EdgeSettings, seen: Iterable<TargetRef>): void;
  names(): string[];
  refsOf(name: string): readonly TargetRef[];
  /** By public name or by the upstream's own. */
  refsOfAdapter(adapter: string, name: string): readonly TargetRef[];
  namesOf(ref: TargetRef): readonly string[];
  all(): TargetRef[];
  /** Seconds since 1970. */
  firstSeenS(name: string): number;
}

/** Against a Node that invents names for ever. */
const mostRemembered = 10_000;

/** @param wall milliseconds since 1970 */
export function createTargetBook(wall: () => number): TargetBook {
  const seen = new Map<string, TargetRef>();
  const firstSeen = new Map<string, number>();
  let known = new Map<string, TargetRef>();
  let byName = new Map<string, TargetRef[]>();
  let renamed = new Map<string, string[]>();

  function namesOf(ref: TargetRef): readonly string[] {
    return renamed.get(refKey(ref)) ?? [ref.target];
  }

  function remember(settings: EdgeSettings, refs: Iterable<TargetRef>): void {
    for (const ref of refs) {
      if (seen.size < mostRemembered) seen.set(refKey(ref), { adapter: ref.adapter, target: ref.target });
    }
    const adapters = new Set(settings.adapters.map((adapter) => adapter.name));
    for (const [key, ref] of seen) if (!adapters.has(ref.adapter)) seen.delete(key);
  }

  return {
    rebuild(settings, refs) {
      remember(settings, refs);
      known = new Map([...configuredRefs(settings).map((ref) => [refKey(ref), ref] as const), ...seen]);
      renamed = renamedBy(settings);
      byName = new Map();
      for (const ref of known.values()) {
        for (const name of namesOf(ref)) {
          const refs = byName.get(name);
          if (refs === undefined) byName.set(name, [ref]);
          else refs.push(ref);
          if (!firstSeen.has(name)) firstSeen.set(name, Math.floor(wall() / 1000));
        }
      }
    },
    names: () => [...byName.keys()],
    refsOf: (name) => byName.get(name) ?? [],
    refsOfAdapter(adapter, name) {
      const own = known.get(refKey({ adapter, target: name }));
      const named = (byName.get(name) ?? []).filter((ref) => ref.adapter === adapter && ref !== own);
      return own === undefined ? named : [own, ...named];
    },
    namesOf,
    all: () => [...known.values()],
    firstSeenS: (name) => firstSeen.get(name) ?? Math.floor(wall() / 1000),
  };
}

function configuredRefs(settings: EdgeSettings): TargetRef[] {
  const ofAdapters = settings.adapters.flatMap((adapter) =>
    adapter.targets.map((target) => ({ adapter: adapter.name, target: target.name })),
  );
  const ofModels = settings.models.flatMap((model) =>
    model.kind === 'target' ? [{ adapter: model.adapter, target: model.target }] : [],
  );
  return [...ofAdapters, ...ofModels];
}

/** Targets that have public names of their own. */
function renamedBy(settings: EdgeSettings): Map<string, string[]> {
  const renamed = new Map<string, string[]>();
  for (const model of settings.models) {
    if (model.kind !== 'target') continue;
    const names = renamed.get(refKey(model));
    if (names === undefined) renamed.set(refKey(model), [model.name]);
    else names.push(model.name);
  }
  return renamed;
}
