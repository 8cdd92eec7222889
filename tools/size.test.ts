import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTest } from './arch/check-imports.ts';
import { readSources } from './arch/scan-imports.ts';
import { countLines, findLongFunctions, limits, longFiles } from './size/measure.ts';

const sources = readSources();

const limitOf = (path: string): number =>
  isTest(path) || path.includes('/testing/') ? limits.failTestLines : limits.failFileLines;

test('no file is longer than 400 lines, no suite than 600, except those that are named', (context) => {
  const sizes = sources.map((source) => ({ path: source.path, lines: countLines(source) }));
  for (const { path, lines } of sizes.filter((size) => size.lines > limits.warnFileLines)) {
    context.diagnostic(`long: ${path}: ${lines} lines`);
  }
  const tooLong = sizes.filter(({ path, lines }) => lines > limitOf(path) && longFiles[path] === undefined);
  assert.deepEqual(tooLong, []);
});

test('functions of more than 60 lines are reported', (context) => {
  const found = sources.flatMap((source) => findLongFunctions(source, limits.warnFunctionLines));
  for (const { path, line, lines } of found)
    context.diagnostic(`long: ${path}:${line}: a function of ${lines} lines`);
});

test('named exceptions are still there', () => {
  const paths = new Set(sources.map(({ path }) => path));
  assert.deepEqual(
    Object.keys(longFiles).filter((path) => !paths.has(path)),
    [],
  );
});

test('a planted long function is found', () => {
  const body = Array.from({ length: 10 }, (_, index) => `  const a${index} = () => {\n  };`).join('\n');
  for (const head of [
    'function f() {',
    'export async function f(a: number): Promise<void> {',
    'const f = (a) => {',
  ]) {
    const found = findLongFunctions({ path: 'x.ts', text: `${head}\n${body}\n}\n` }, 20);
    assert.deepEqual(found, [{ path: 'x.ts', line: 1, lines: 22 }], head);
  }
  const method = findLongFunctions(
    { path: 'x.ts', text: `class A {\n  run(a) {\n${'    b();\n'.repeat(30)}  }\n}\n` },
    20,
  );
  assert.deepEqual(method, [{ path: 'x.ts', line: 2, lines: 32 }]);
});
