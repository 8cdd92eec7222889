import type { z } from 'zod';
import { nearest } from './nearest.ts';
import { formatPath, type Problem } from './problem.ts';
import { chosenKeys, type Shape, shapeOf } from './shape.ts';
import type { ConfigSource } from './source.ts';

/** Keys in `value` that no schema knows: typos that would otherwise leave a default in force. */
export function findUnknownKeys(schema: z.core.$ZodType, source: ConfigSource): Problem[] {
  const problems: Problem[] = [];
  visit(schema, source.value, []);
  return problems;

  function visit(at: z.core.$ZodType, value: unknown, path: readonly PropertyKey[]): void {
    const shape = shapeOf(at);
    if (shape.kind === 'list') {
      const items = Array.isArray(value) ? value : [];
      for (const [index, item] of items.entries()) visit(shape.item, item, [...path, index]);
    } else if (isPlainObject(value)) {
      visitObject(shape, value, path);
    }
  }

  function visitObject(
    shape: Shape,
    value: Readonly<Record<string, unknown>>,
    path: readonly PropertyKey[],
  ): void {
    if (shape.kind === 'object') visitKeys(shape.keys, value, path);
    if (shape.kind === 'choice') visitKeys(chosenKeys(shape, value), value, path);
    if (shape.kind !== 'map') return;
    for (const [key, item] of Object.entries(value)) visit(shape.value, item, [...path, key]);
  }

  function visitKeys(
    keys: Readonly<Record<string, z.core.$ZodType>>,
    value: Readonly<Record<string, unknown>>,
    path: readonly PropertyKey[],
  ): void {
    for (const [key, item] of Object.entries(value)) {
      const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (known === undefined) problems.push(unknownKey([...path, key], Object.keys(keys), source));
      else visit(known, item, [...path, key]);
    }
  }
}

function unknownKey(path: readonly PropertyKey[], known: readonly string[], source: ConfigSource): Problem {
  const typed = String(path.at(-1));
  const near = nearest(typed, known);
  const hint = near === undefined ? `known here: ${known.join(', ')}` : `did you mean ${near}?`;
  return { place: source.placeOfKey(path), path: formatPath(path), text: `unknown key; ${hint}` };
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
