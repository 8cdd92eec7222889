import { z } from 'zod';

/** What a schema accepts in a file, seen from outside: wrappers and transforms taken off. */
export type Shape =
  | { kind: 'object'; keys: Readonly<Record<string, z.core.$ZodType>> }
  | { kind: 'list'; item: z.core.$ZodType }
  | { kind: 'map'; value: z.core.$ZodType }
  | { kind: 'choice'; by: string; options: readonly z.core.$ZodType[] }
  | { kind: 'leaf'; schema: z.core.$ZodType };

export function shapeOf(schema: z.core.$ZodType): Shape {
  const inner = unwrap(schema);
  const def = (inner as z.core.$ZodTypes)._zod.def;
  if (def.type === 'object') return { kind: 'object', keys: def.shape };
  if (def.type === 'array') return { kind: 'list', item: def.element };
  if (def.type === 'record') return { kind: 'map', value: def.valueType };
  if (def.type === 'union' && 'discriminator' in def) {
    return { kind: 'choice', by: String(def.discriminator), options: def.options };
  }
  return { kind: 'leaf', schema: inner };
}

/** What lies under defaults, optionality and transforms. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const below = layerBelow(schema);
  return below === undefined ? schema : unwrap(below);
}

function layerBelow(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  if (def.type === 'pipe') return def.in;
  if (def.type === 'lazy') return def.getter();
  return 'innerType' in def ? def.innerType : undefined;
}

/** The keys of the option of a choice that `value` picks; all keys of all options if it picks none. */
export function chosenKeys(
  choice: Extract<Shape, { kind: 'choice' }>,
  value: unknown,
): Readonly<Record<string, z.core.$ZodType>> {
  const picked =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[choice.by] : undefined;
  const keySets = choice.options.map((option) => keysOf(option));
  const match = keySets.find((keys) => literalsOf(keys[choice.by]).includes(String(picked)));
  return match ?? Object.assign({}, ...keySets);
}

export function keysOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  const shape = shapeOf(schema);
  return shape.kind === 'object' ? shape.keys : {};
}

/** The fixed values that a schema allows, where it is a closed set. */
export function literalsOf(schema: z.core.$ZodType | undefined): string[] {
  if (schema === undefined) return [];
  const def = (unwrap(schema) as z.core.$ZodTypes)._zod.def;
  if (def.type === 'literal') return def.values.map(String);
  if (def.type === 'enum') return Object.values(def.entries).map(String);
  return [];
}

/** `.meta()` of the outermost layer that has the field. */
export function metaOf(schema: z.core.$ZodType, field: 'description' | 'unit'): string | undefined {
  const value = z.globalRegistry.get(schema)?.[field];
  if (typeof value === 'string') return value;
  const below = layerBelow(schema);
  return below === undefined ? undefined : metaOf(below, field);
}

/** The value of a key that is not given; undefined where it has none. */
export function defaultOf(schema: z.core.$ZodType): unknown {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  if (def.type === 'default' || def.type === 'prefault') return def.defaultValue;
  const below = layerBelow(schema);
  return below === undefined ? undefined : defaultOf(below);
}

/** Whether a key may be left out. */
export function isOptional(schema: z.core.$ZodType): boolean {
  return schema._zod.optin !== undefined;
}
