import type { z } from 'zod';

interface Named {
  name: string;
}

interface Model extends Named {
  adapter?: string | undefined;
  target?: string | undefined;
  fallback?: string[] | undefined;
  routes?: { name: string }[] | undefined;
}

interface Referring {
  adapters: readonly Named[];
  models: readonly Model[];
}

/** What one key of edge.yaml says of another. */
export function checkReferences({ adapters, models }: Referring, context: z.core.$RefinementCtx): void {
  const refuse = (path: (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  const known = new Set<string>();
  for (const [index, { name }] of adapters.entries()) {
    if (known.has(name)) refuse(['adapters', index, 'name'], 'expected a name that no other adapter has');
    known.add(name);
  }
  const aliases = new Set(models.filter(isAlias).map((model) => model.name));
  for (const [index, model] of models.entries()) {
    const wrong = problemOf(model, { known, aliases });
    if (wrong !== undefined) refuse(['models', index, wrong.key], wrong.message);
  }
}

interface Names {
  /** Of adapters. */
  known: ReadonlySet<string>;
  aliases: ReadonlySet<string>;
}

function problemOf(model: Model, names: Names): { key: string; message: string } | undefined {
  const { adapter, target } = model;
  if (isAlias(model)) return aliasProblem(model, names);
  if (adapter === undefined || target === undefined) {
    return { key: 'name', message: 'expected adapter and target beside it, or fallback, or routes' };
  }
  if (!names.known.has(adapter)) {
    const list = [...names.known].join(', ') || 'there is none';
    return { key: 'adapter', message: `expected the name of an adapter (${list})` };
  }
  if (names.aliases.has(model.name)) {
    return { key: 'name', message: 'expected a name that no alias (fallback, routes) has' };
  }
  return undefined;
}

function isAlias({ fallback, routes }: Model): boolean {
  return fallback !== undefined || routes !== undefined;
}

function aliasProblem(
  { adapter, target, fallback, routes }: Model,
  names: Names,
): { key: string; message: string } | undefined {
  const key = fallback === undefined ? 'routes' : 'fallback';
  if (adapter !== undefined || target !== undefined || (fallback !== undefined && routes !== undefined)) {
    return { key, message: 'expected one of fallback, routes, or adapter and target' };
  }
  const wanted = fallback ?? routes?.map((route) => route.name) ?? [];
  const nested = wanted.find((each) => names.aliases.has(each));
  if (nested !== undefined) {
    return { key, message: `expected names of targets; ${nested} is an alias itself` };
  }
  if (new Set(wanted).size === wanted.length) return undefined;
  return { key, message: 'expected each name once' };
}
