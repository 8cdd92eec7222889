import { parse as parseYaml } from 'yaml';
import type { z } from 'zod';
import { type ConfigDeclaration, envNameOf } from './declaration.ts';
import { explainIssue } from './explain-issue.ts';
import { type ConfigKey, listSettableKeys } from './keys.ts';
import { nearest } from './nearest.ts';
import { configError, formatPath, type Problem } from './problem.ts';
import { type ConfigSource, noSource, type Place, readSource } from './source.ts';
import { findUnknownKeys, isPlainObject } from './unknown-keys.ts';

export interface ConfigInput {
  /** Path of the YAML file; undefined: defaults, environment and flags only. */
  file?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  /** By dotted key: `{ 'http.port': '7480' }`; see `parseSettings`. */
  flags?: Readonly<Record<string, string | undefined>>;
}

/**
 * The configuration, checked whole. A flag beats the environment, the environment beats the file, the
 * file beats the default. Throws one `config.invalid` that names every problem: file, line, key,
 * what was expected, and the nearest known key for a typo.
 */
export function loadConfig<S extends z.ZodType>(
  declaration: ConfigDeclaration<S>,
  input: ConfigInput,
): z.output<S> {
  const source = input.file === undefined ? noSource : readSource(input.file);
  if (!isPlainObject(source.value)) {
    throw configError([{ place: source.placeOf([]), path: '', text: 'expected keys and values' }]);
  }
  const overrides = collectOverrides(declaration, input);
  const merged = structuredClone(source.value);
  for (const override of overrides.values()) setAt(merged, override.key.path, override.value);
  const parsed = declaration.schema.safeParse(merged);
  const unknown = findUnknownKeys(declaration.schema, source);
  if (parsed.success && unknown.length === 0) return parsed.data;
  const issues = parsed.success ? [] : parsed.error.issues;
  throw configError([...unknown, ...toProblems(issues, { merged, source, overrides })]);
}

/** What the repeatable option `--set` gave, a `http.port=0` on each line, as the flags of `loadConfig`. */
export function parseSettings(option: unknown): Record<string, string> {
  const settings = typeof option === 'string' ? option.split('\n').filter((line) => line !== '') : [];
  return Object.fromEntries(
    settings.map((setting) => {
      const split = setting.indexOf('=');
      if (split > 0) return [setting.slice(0, split).trim(), setting.slice(split + 1)];
      throw configError([{ place: { text: '--set' }, path: setting, text: 'expected key=value' }]);
    }),
  );
}

interface Override {
  key: ConfigKey;
  place: Place;
  value: unknown;
}

function collectOverrides(declaration: ConfigDeclaration, input: ConfigInput): Map<string, Override> {
  const keys = new Map(listSettableKeys(declaration.schema).map((key) => [key.path.join('.'), key]));
  const overrides = new Map<string, Override>();
  for (const [path, key] of keys) {
    const name = envNameOf(declaration, key.path);
    const text = input.env?.[name];
    if (text !== undefined)
      overrides.set(path, { key, place: { text: name }, value: readText(key.schema, text) });
  }
  for (const [path, text] of Object.entries(input.flags ?? {})) {
    const key = keys.get(path);
    if (text === undefined) continue;
    if (key === undefined) throw configError([unknownFlag(path, [...keys.keys()])]);
    overrides.set(path, { key, place: { text: '--set' }, value: readText(key.schema, text) });
  }
  return overrides;
}

function unknownFlag(path: string, known: readonly string[]): Problem {
  const near = nearest(path, known);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return { place: { text: '--set' }, path, text: `unknown key${hint}` };
}

/** Text from outside as the schema wants it: a YAML value, plain text, or a list with commas. */
function readText(schema: z.core.$ZodType, text: string): unknown {
  const candidates = [yamlOf(text), text, text.split(',').map((part) => part.trim())];
  const fits = candidates.find((value) => (schema as z.ZodType).safeParse(value).success);
  // What fits nothing is shown as the number or word that it most likely was meant to be.
  return fits === undefined ? yamlOf(text) : fits;
}

function yamlOf(text: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    return text;
  }
}

function setAt(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = root;
  for (const key of path.slice(0, -1)) {
    const below = at[key];
    const next = isPlainObject(below) ? below : {};
    at[key] = next;
    at = next;
  }
  at[path.at(-1) ?? ''] = value;
}

interface Origin {
  merged: unknown;
  source: ConfigSource;
  overrides: ReadonlyMap<string, Override>;
}

function toProblems(issues: readonly z.core.$ZodIssue[], origin: Origin): Problem[] {
  // Unknown keys were found before, in every object, strict or not.
  const own = issues.filter((issue) => issue.code !== 'unrecognized_keys');
  return own.map((issue) => ({
    place: origin.overrides.get(issue.path.join('.'))?.place ?? origin.source.placeOf(issue.path),
    path: formatPath(issue.path),
    text: explainIssue(issue, valueAt(origin.merged, issue.path)),
  }));
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (at === null || at === undefined ? undefined : Reflect.get(Object(at), key)),
    root,
  );
}
