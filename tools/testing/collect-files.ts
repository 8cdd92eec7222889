import { globSync } from 'node:fs';
import { root } from '../arch/scan-imports.ts';

/** The kinds of test files, by their names (CONTRIBUTING.md says what each may use). */
export const testKinds = ['unit', 'tools', 'int', 'e2e', 'fault', 'live'] as const;
export type TestKind = (typeof testKinds)[number];

const ofKind: Readonly<Record<TestKind, (path: string) => boolean>> = {
  unit: (path) => /^(packages|apps|bench)\//.test(path) && plain(path),
  tools: (path) => path.startsWith('tools/') && plain(path),
  int: (path) => path.endsWith('.int.test.ts'),
  e2e: (path) => path.startsWith('e2e/') && plain(path),
  fault: (path) => path.endsWith('.fault.test.ts'),
  live: (path) => path.endsWith('.live.test.ts'),
};

function plain(path: string): boolean {
  return !/\.(int|fault|live)\.test\.ts$/.test(path);
}

/** All test files of these kinds, from the root; every test file of the tree is of exactly one kind. */
export function collectTestFiles(kinds: readonly TestKind[]): string[] {
  const all = listTestFiles();
  return kinds.flatMap((kind) => all.filter(ofKind[kind]));
}

export function kindsOf(path: string): TestKind[] {
  return testKinds.filter((kind) => ofKind[kind](path));
}

export function listTestFiles(): string[] {
  const paths = globSync('{packages,apps,e2e,bench,tools}/**/*.test.ts', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  });
  return paths.toSorted();
}
