import type { Matcher } from '@iop/cli-profile';

/** The value at a path such as `item.text` or `choices.0.delta`; own properties only. */
export function valueAt(value: unknown, path: string): unknown {
  let here = value;
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

/** Every path of the matcher has the value that it names. */
export function matches(value: unknown, matcher: Matcher): boolean {
  return Object.entries(matcher).every(([path, expected]) => valueAt(value, path) === expected);
}
