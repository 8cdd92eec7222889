import { isTest } from './check-imports.ts';
import type { SourceFile } from './scan-imports.ts';

export interface WordRow {
  word: RegExp;
  /** Where it may not stand. */
  places: RegExp;
  why: string;
}

const pure =
  /^(packages\/(domain|wire|runtime|link)\/src\/(?!testing\/|tcp\/)|apps\/[^/]+\/src\/(core|ports)\/)/;

/** What the type projects cannot refuse, because it belongs to the language itself. */
export const wordTable: readonly WordRow[] = [
  { word: /\bDate\.now\b|\bnew Date\(\)/, places: pure, why: 'time is passed in as a Clock' },
  { word: /\bMath\.random\b/, places: pure, why: 'randomness is passed in' },
  { word: /\bexport default\b/, places: /./, why: 'a name that is given once can be searched for' },
  { word: /\b(?:describe|test|it)\.only\(/, places: /\.test\.ts$/, why: 'it silences all other tests' },
  { word: /@ts-(?:ignore|nocheck)\b/, places: /./, why: 'say what is wrong with @ts-expect-error and why' },
];

export interface WordFinding {
  file: string;
  line: number;
  text: string;
}

export function findForbiddenWords({ path, text }: SourceFile): WordFinding[] {
  const rows = wordTable.filter((row) => row.places.test(path) && (row.places !== pure || !isTest(path)));
  return text
    .split('\n')
    .flatMap((line, index) =>
      rows
        .filter((row) => row.word.test(withoutComment(line)))
        .map((row) => ({ file: path, line: index + 1, text: `${line.trim()}: ${row.why}` })),
    );
}

function withoutComment(line: string): string {
  return /^\s*(\*|\/\/|\/\*)/.test(line) ? '' : line;
}
