/**
 * What a test run prints: failures and skips by name as they come, then the skips once more as a list,
 * the rows that may never be skipped but were, and last the runner's own summary.
 *
 * Used by run.ts as `--test-reporter`. The rules come as a file in IOP_NEVER_SKIP, since a reporter
 * takes no arguments.
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';
import { root } from '../arch/scan-imports.ts';
import { brokenSkipRules, type NeverSkip, type SeenTest } from './skip-rules.ts';

// biome-ignore lint/style/noDefaultExport: the test runner takes a reporter's default export
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seen = createRecorder();
  const summary: TestEvent[] = [];
  const formatter = new spec();
  const out = formatter.pipe(new PassThrough({ encoding: 'utf8' }));
  for await (const event of source) {
    seen.note(event);
    if (isSummary(event)) summary.push(event);
    else formatter.write(event);
    yield drain(out);
  }
  yield closingWords(seen.tests);
  for (const event of summary) formatter.write(event);
  formatter.end();
  for await (const text of out) yield String(text);
}

function drain(out: PassThrough): string {
  const text: unknown = out.read();
  return text === null ? '' : String(text);
}

/** `tests 12`, `pass 12`, …: said once, of the whole run. */
function isSummary(event: TestEvent): boolean {
  return event.type === 'test:diagnostic' && event.data.nesting === 0 && event.data.file === undefined;
}

interface Recorder {
  readonly tests: SeenTest[];
  note(event: TestEvent): void;
}

function createRecorder(): Recorder {
  const tests: SeenTest[] = [];
  // Names of the suites that are open, by file and depth.
  const open = new Map<string, string[]>();
  const namesAbove = (event: { data: { file?: string | undefined; nesting: number } }): string[] =>
    (open.get(fileOf(event)) ?? []).slice(0, event.data.nesting);
  return {
    tests,
    note(event) {
      if (event.type === 'test:start') open.set(fileOf(event), [...namesAbove(event), event.data.name]);
      if (event.type === 'test:pass' || event.type === 'test:fail')
        tests.push(toSeen(event, namesAbove(event)));
    },
  };
}

type EndEvent = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

function toSeen(event: EndEvent, above: readonly string[]): SeenTest {
  const { skip, name } = event.data;
  const skipped = skip !== undefined && skip !== false;
  return {
    file: fileOf(event),
    name: [...above, name].join(' > '),
    outcome: skipped ? 'skipped' : event.type === 'test:pass' ? 'passed' : 'failed',
    reason: typeof skip === 'string' && skip !== '' ? skip : 'no reason given',
  };
}

function fileOf(event: { data: { file?: string | undefined } }): string {
  return event.data.file === undefined ? '' : relative(root, event.data.file);
}

function closingWords(tests: readonly SeenTest[]): string {
  const skipped = tests.filter((test) => test.outcome === 'skipped');
  const broken = brokenSkipRules(readRules(), tests);
  if (broken.length > 0) process.exitCode = 1;
  const lines = [
    ...section(
      'Skipped, by name:',
      skipped.map((test) => `${test.file}: ${test.name}: ${test.reason}`),
    ),
    ...section('May never be skipped, but:', broken),
  ];
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

function readRules(): NeverSkip[] {
  const path = process.env.IOP_NEVER_SKIP;
  return path === undefined ? [] : (JSON.parse(readFileSync(path, 'utf8')) as { rows: NeverSkip[] }).rows;
}
