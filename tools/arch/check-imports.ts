import { dirname, posix } from 'node:path';
import { type ImportRow, importTable } from './import-table.ts';
import type { Import } from './scan-imports.ts';

/** An import that no row allows. */
export interface Violation {
  file: string;
  line: number;
  specifier: string;
  text: string;
}

export function checkImport(found: Import): Violation | undefined {
  const problem = problemOf(found);
  return problem === undefined ? undefined : { ...found, text: problem };
}

function problemOf(found: Import): string | undefined {
  const row = rowOf(found.file);
  if (row === undefined) return 'the file stands in no row of the import table';
  const target = targetOf(found);
  if (isTest(found.file)) return testProblem(found, target, row);
  return isAllowed(target, row) ? undefined : `${row.place} may not import ${target}: ${row.why}`;
}

interface BoundRow {
  place: string;
  may: readonly string[];
  why: string;
}

/** The row of a file (`config-x.ts` stands with `config`), with `{app}` and `{part}` filled in. */
export function rowOf(file: string): BoundRow | undefined {
  for (const row of importTable) {
    const bound = bind(row, file);
    if (bound !== undefined) return bound;
  }
  return undefined;
}

function bind(row: ImportRow, file: string): BoundRow | undefined {
  const match = new RegExp(`^${toPattern(row.place)}(?=/|$|(?:-[a-z-]+)?\\.ts$)`).exec(file);
  if (match === null) return undefined;
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_whole, name: string) => match.groups?.[name] ?? '');
  return { place: fill(row.place), may: row.may.map(fill), why: row.why };
}

function toPattern(place: string): string {
  return place.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+?)');
}

/** `node:net`, `npm:zod`, or the path of a file or entry of ours from the root. */
export function targetOf({ file, specifier }: Pick<Import, 'file' | 'specifier'>): string {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(dirname(file), specifier));
  if (specifier.startsWith('node:')) return specifier;
  const own = /^@iop\/([^/]+)(?:\/(.+))?$/.exec(specifier);
  if (own !== null) return entryOf(own[1] ?? '', own[2]);
  const parts = specifier.split('/');
  return `npm:${specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]}`;
}

const appNames = ['edge', 'node', 'cli'];

function entryOf(name: string, entry: string | undefined): string {
  const folder = appNames.includes(name) ? `apps/${name}` : `packages/${name}`;
  return entry === undefined ? `${folder}/src/index.ts` : `${folder}/src/${entry}/index.ts`;
}

function isAllowed(target: string, row: BoundRow): boolean {
  if (/^(node|npm):/.test(target))
    return row.may.includes(target) || row.may.includes(`${target.slice(0, 4)}*`.replace('node*', 'node:*'));
  // Every program says its version.
  if (target === `${room(row.place)}/package.json`) return true;
  const place = rowOf(target)?.place;
  if (place === undefined) return false;
  return place === row.place || row.may.some((may) => placeMatches(may, place));
}

function placeMatches(may: string, place: string): boolean {
  return may.includes('*') ? new RegExp(`^${may.replaceAll('*', '[^/]+')}$`).test(place) : may === place;
}

export function isTest(file: string): boolean {
  return /[.-](test|contract|fixture)\.ts$|\/fixture-[^/]+\.ts$/.test(file);
}

/** A test may import what its place may, itself, and what is made for tests. */
function testProblem(found: Import, target: string, row: BoundRow): string | undefined {
  if (/\.test\.ts$/.test(target)) return 'a test may not import another test';
  if (/^(node|npm):/.test(target)) return undefined;
  const forTests = isTest(target) || /\/testing\//.test(target);
  if (forTests || isAllowed(target, row)) return undefined;
  return sameRoom(found.file, target) ? undefined : `a test of ${row.place} may not import ${target}`;
}

/** Tests may look at everything in their own app or package. */
function sameRoom(file: string, target: string): boolean {
  return room(file) === room(target);
}

function room(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}
