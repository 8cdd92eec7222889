import type { SourceFile } from '../arch/scan-imports.ts';

export const limits = {
  /** Aim for 150; from here on a reader loses the thread. */
  warnFileLines: 300,
  failFileLines: 400,
  /** Suites are lists: they may be longer. */
  failTestLines: 600,
  /** Aim for 25. */
  warnFunctionLines: 60,
};

/** Files that may be longer, each with its reason. */
export const longFiles: Readonly<Record<string, string>> = {
  'tools/arch/import-table.ts': 'one table, read as a whole',
};

export interface LongFunction {
  path: string;
  line: number;
  lines: number;
}

export function countLines({ text }: SourceFile): number {
  return text.trimEnd().split('\n').length;
}

const opening = /^(\s*)(?:export )?(?:async )?(?:function\b.*|(?:\w+\s*)?\(.*\).*|.*=>) \{$/;

/**
 * Functions that are longer than `limit` lines. Counts by indentation, which the formatter guarantees:
 * a body ends at the first line that closes at the depth of its opening.
 */
export function findLongFunctions({ path, text }: SourceFile, limit: number): LongFunction[] {
  const lines = text.split('\n');
  return lines.flatMap((line, start) => {
    const indent = opening.exec(line)?.[1];
    if (indent === undefined || /^\s*(if|for|while|switch|describe|test)\b/.test(line)) return [];
    const end = lines.findIndex((other, index) => index > start && other.startsWith(`${indent}}`));
    const length = end - start + 1;
    return end > start && length > limit ? [{ path, line: start + 1, lines: length }] : [];
  });
}
