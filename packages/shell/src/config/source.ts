import { readFileSync } from 'node:fs';
import { type Document, isMap, LineCounter, type Node, type ParsedNode, parseDocument } from 'yaml';
import { configError, type Problem } from './problem.ts';

/** A configuration file that was read, with the way back from a key to its line. */
export interface ConfigSource {
  value: unknown;
  /** `file:line:column` of the value at `path`, or of the nearest thing above it that is there. */
  placeOf(path: readonly PropertyKey[]): Place;
  /** The same of a key itself. */
  placeOfKey(path: readonly PropertyKey[]): Place;
}

export interface Place {
  text: string;
  file?: string;
  line?: number;
}

export const noSource: ConfigSource = {
  value: {},
  placeOf: () => ({ text: 'configuration' }),
  placeOfKey: () => ({ text: 'configuration' }),
};

export function readSource(file: string): ConfigSource {
  return parseSource(readText(file), file);
}

export function parseSource(text: string, file: string): ConfigSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { text: `${file}:${line}:${col}`, file, line };
  };
  const problems = document.errors.map(
    (error): Problem => ({
      place: place(error.pos[0]),
      path: '',
      text: `not valid YAML: ${error.message}`,
    }),
  );
  if (problems.length > 0) throw configError(problems);
  return {
    value: plainValueOf(document, file),
    placeOf: (path) => place(offsetOf(document, path)),
    placeOfKey: (path) => place(keyOffsetOf(document, path) ?? offsetOf(document, path)),
  };
}

/** Aliases that multiply each other ("billion laughs") are refused by the parser itself. */
function plainValueOf(document: Document.Parsed<ParsedNode>, file: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw configError([{ place: { text: file, file }, path: '', text }], cause);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const text = missing ? 'there is no such file' : `cannot read it: ${(cause as Error).message}`;
    throw configError([{ place: { text: file, file }, path: '', text }], cause);
  }
}

function offsetOf(document: Document.Parsed<ParsedNode>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as Node | undefined;
    if (node?.range != null) return node.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

function keyOffsetOf(
  document: Document.Parsed<ParsedNode>,
  path: readonly PropertyKey[],
): number | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find((item) => String(item.key) === String(path.at(-1)));
  return (pair?.key as Node | undefined)?.range?.[0];
}
