/**
 * Runs the tests of some kinds: `node tools/testing/run.ts unit int e2e`.
 *
 * Beyond `node --test`: a kind without a single file is an error (a pattern that matches nothing must
 * not look like a success), skips are listed by name, rows of never-skip.json must have run, and no
 * process may be left behind.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { root } from '../arch/scan-imports.ts';
import { collectTestFiles, type TestKind, testKinds } from './collect-files.ts';
import { isAlive, type SeenProcess, watchDescendants } from './descendants.ts';

/** Also of a whole file, to the runner a file is a test. Tests bound themselves tighter. */
const longestTestMs = 600_000;
const longestRunMs = 25 * 60_000;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const complete = args.includes('--complete');
  const kinds = args.filter((arg) => !arg.startsWith('--'));
  const unknown = kinds.filter((kind) => !isTestKind(kind));
  if (kinds.length === 0 || unknown.length > 0)
    return refuse(`kinds are ${testKinds.join(', ')}, not ${unknown.join(', ')}`);
  const files = kinds.filter(isTestKind).map((kind) => ({ kind, files: collectTestFiles([kind]) }));
  const empty = files.filter((group) => group.files.length === 0).map((group) => group.kind);
  if (empty.length > 0) return refuse(`no test file of kind ${empty.join(', ')}`);
  const pure = files.filter(({ kind }) => isPure(kind)).flatMap((group) => group.files);
  const others = files.filter(({ kind }) => !isPure(kind)).flatMap((group) => group.files);
  return await runTests([...batchOf(pure), ...others], { complete });
}

/** Pure tests can share a process, which saves a start for each file. */
function isPure(kind: TestKind): boolean {
  return kind === 'unit' || kind === 'tools';
}

/** One file that imports them all, so that one run and one summary cover it and the others. */
function batchOf(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  const folder = join(root, 'node_modules/.cache/iop');
  mkdirSync(folder, { recursive: true });
  const batch = join(folder, 'pure.test.mjs');
  const imports = files.map(
    (file) => `await import(${JSON.stringify(pathToFileURL(join(root, file)).href)});\n`,
  );
  writeFileSync(batch, imports.join(''));
  return [batch];
}

interface RunOptions {
  /** All rows of never-skip.json must have run. */
  complete: boolean;
}

function isTestKind(text: string): text is TestKind {
  return (testKinds as readonly string[]).includes(text);
}

function refuse(message: string): number {
  process.stderr.write(`tests: ${message}\n`);
  return 64;
}

async function runTests(files: readonly string[], { complete }: RunOptions): Promise<number> {
  const rules = join(root, 'tools/testing/never-skip.json');
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--test-timeout=${longestTestMs}`,
      // One file at a time: what is measured must not share its core with another test.
      '--test-concurrency=1',
      `--test-reporter=${join(root, 'tools/testing/reporter.ts')}`,
      '--test-reporter-destination=stdout',
      ...files,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        // Every file is a process, which would compile the same modules anew.
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/iop'),
        ...(complete ? { IOP_NEVER_SKIP: rules } : {}),
      },
    },
  );
  const watch = watchDescendants(process.pid);
  const limit = setTimeout(() => child.kill('SIGKILL'), longestRunMs);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const code = await new Promise<number>((resolve) => {
    child.on('close', (status, signal) => resolve(status ?? (signal === null ? 1 : 130)));
  });
  clearTimeout(limit);
  const left = await endSurvivors(watch.stop());
  return code === 0 && left.length > 0 ? 1 : code;
}

/** A moment to end by themselves, then they are named and ended. */
async function endSurvivors(survivors: readonly SeenProcess[]): Promise<SeenProcess[]> {
  for (let waits = 0; waits < 20 && survivors.some(isAlive); waits++) await sleep(100);
  const left = survivors.filter(isAlive);
  for (const { pid, command } of left) {
    process.stderr.write(`tests: left behind: ${pid} ${command}\n`);
    process.kill(pid, 'SIGKILL');
  }
  return left;
}
