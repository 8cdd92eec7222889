import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** One import as it is written: of types, of values, or lazy. */
export interface Import {
  /** Path of the importing file from the root. */
  file: string;
  line: number;
  specifier: string;
}

export interface SourceFile {
  /** From the root, with `/`. */
  path: string;
  text: string;
}

/** All TypeScript of the tree, without what is generated or installed. */
export function readSources(): SourceFile[] {
  const paths = globSync('{packages,apps,e2e,bench,tools}/**/*.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === 'gen' || name === 'results',
  });
  return paths.toSorted().map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

const patterns = [
  // import x from '…', export { x } from '…', import type … from '…', over several lines
  /^(?:import|export)\b[^'"`;]*?\bfrom\s+'([^']+)'/gm,
  /^import\s+'([^']+)'/gm,
  /\bimport\(\s*'([^']+)'\s*\)/g,
  // files that are started, not imported: workers and children
  /\bnew URL\(\s*'(\.[^']+\.ts)'\s*,\s*import\.meta\.url\s*\)/g,
];

/** Holds imports as text that are planted to be found. */
const planted = 'tools/arch.test.ts';

export function scanImports({ path, text }: SourceFile): Import[] {
  const wanted = path === planted ? patterns.slice(0, 2) : patterns;
  return wanted.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({
      file: path,
      line: text.slice(0, match.index).split('\n').length,
      specifier: match[1] ?? '',
    })),
  );
}
