const fromRoot = (path: string): string => new URL(`../../${path}`, import.meta.url).pathname;

/** The programs as they lie in the source tree. */
export const iopPrograms = {
  edge: fromRoot('apps/edge/src/main.ts'),
  node: fromRoot('apps/node/src/main.ts'),
  cli: fromRoot('apps/cli/src/main.ts'),
};
