import type { z } from 'zod';
import { defaultOf, isOptional, keysOf, literalsOf, metaOf, type Shape, shapeOf } from './shape.ts';

/** One key of a configuration, with where it stands. */
export interface ConfigKey {
  /** `adapters[].base_url` is `['adapters', '[]', 'base_url']`; `<name>` stands for a free key. */
  path: readonly string[];
  schema: z.core.$ZodType;
  required: boolean;
  /** Only with this choice: `kind: vllm`. */
  when?: string;
  /** Of a key with `when`: how many options the choice has. */
  options?: number;
  /** Of the key that chooses: what it may be, and what that means. */
  choices?: readonly Choice[];
}

export interface Choice {
  value: string;
  summary: string;
}

/** All keys that hold values, in the order of the declaration. */
export function listKeys(schema: z.core.$ZodType): ConfigKey[] {
  return flatten({ path: [], schema, required: true });
}

function flatten(key: ConfigKey): ConfigKey[] {
  const below = childrenOf(key);
  return below === undefined ? [key] : below.flatMap(flatten);
}

/** Undefined: the key itself holds a value. */
function childrenOf(key: ConfigKey): ConfigKey[] | undefined {
  const shape = shapeOf(key.schema);
  switch (shape.kind) {
    case 'object':
      return Object.entries(shape.keys).map(([name, below]) => child(key, name, below));
    case 'list':
      return isLeaf(shape.item) ? undefined : [child(key, '[]', shape.item)];
    case 'map':
      return isLeaf(shape.value) ? undefined : [child(key, '<name>', shape.value)];
    case 'choice':
      return listChoiceKeys(key, shape);
    case 'leaf':
      return undefined;
  }
}

/** The keys of all options of a choice; one that means the same in every option is listed once. */
function listChoiceKeys(parent: ConfigKey, choice: Extract<Shape, { kind: 'choice' }>): ConfigKey[] {
  const keySets = choice.options.map(keysOf);
  const choices = keySets.flatMap((keys) => toChoices(keys[choice.by]));
  const isShared = (name: string, schema: z.core.$ZodType): boolean =>
    name === choice.by || keySets.every((keys) => keys[name] === schema);
  const found = new Map<string, ConfigKey>();
  for (const keys of keySets) {
    const when = `${choice.by}: ${literalsOf(keys[choice.by]).join(' | ')}`;
    for (const [name, schema] of Object.entries(keys)) {
      const shared = isShared(name, schema);
      const key = { ...child(parent, name, schema), ...(shared ? {} : { when, options: keySets.length }) };
      found.set(shared ? name : `${when}/${name}`, name === choice.by ? { ...key, choices } : key);
    }
  }
  return [...found.values()];
}

function toChoices(schema: z.core.$ZodType | undefined): Choice[] {
  const summary = schema === undefined ? '' : (metaOf(schema, 'description') ?? '');
  return literalsOf(schema).map((value) => ({ value, summary }));
}

function child(parent: ConfigKey, name: string, schema: z.core.$ZodType): ConfigKey {
  return {
    path: [...parent.path, name],
    schema,
    required: !isOptional(schema) && !isAbsent(parent.schema),
    ...(parent.when === undefined ? {} : { when: parent.when, options: parent.options ?? 1 }),
  };
}

/** May be left out as a whole, and then needs none of its keys. */
function isAbsent(schema: z.core.$ZodType): boolean {
  return isOptional(schema) && defaultOf(schema) === undefined;
}

function isLeaf(schema: z.core.$ZodType): boolean {
  return shapeOf(schema).kind === 'leaf';
}

/** Keys that can be set from outside the file: those that stand in no list and under no free name. */
export function listSettableKeys(schema: z.core.$ZodType): ConfigKey[] {
  return listKeys(schema).filter(({ path }) => !path.includes('[]') && !path.includes('<name>'));
}
