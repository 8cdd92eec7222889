import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CliProfile, parseCliProfile } from '@iop/cli-profile';
import type { RunEnd, RunFailure } from '@iop/domain';
import { createTestClock } from '@iop/link/testing';
import type { ExecutionSpec } from '@iop/runtime';
import { createRecordingSink, type RecordingSink } from '@iop/runtime/testing';
import type { Allow } from '../../../ports/adapter-factory.ts';
import { chatSpec } from '../../../testing/specs.ts';
import { markVariable } from './child-environment.ts';
import { createCliAdapter } from './cli-adapter.ts';
import { OrphanLedger } from './orphan-ledger.ts';
import { hasVariable, type ProcessRow, readProcessTable } from './process-table.ts';

/** Scripts of `/bin/sh` as programs. Whoever writes one sees to it that it ends by itself within 30 s. */
export interface CliLab {
  directory: string;
  ledger: OrphanLedger;
  adapter: ReturnType<typeof createCliAdapter>;
  /** Marks of the runs so far. */
  marks: string[];
  /** What lives of them: by mark, and from it by descent and group. */
  descendants(): ProcessRow[];
  /** That very process, not another one of its number. */
  isStillThere(row: ProcessRow): boolean;
  start(script: string, profile?: object, values?: SpecValues): Running;
  run(script: string, profile?: object, values?: SpecValues): Promise<{ sink: RecordingSink; end: RunEnd }>;
}

/** `window`: so many bytes the reader takes before it has to be granted more. */
export type SpecValues = Partial<ExecutionSpec> & { prompt?: string; window?: number };

export interface Running {
  sink: RecordingSink;
  stop: AbortController;
  end: Promise<RunEnd>;
}

export function createCliLab(
  test: Pick<TestContext, 'after'>,
  options: { environment?: Record<string, string>; allow?: Partial<Allow> } = {},
): CliLab {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'iop-cli-')));
  test.after(() => rmSync(directory, { recursive: true, force: true }));
  const ledger = new OrphanLedger(join(directory, 'ledger'));
  const allow = {
    adapters: ['cli'],
    programs: ['/bin/sh'],
    directories: [directory],
    hosts: [],
    ...options.allow,
  };
  const profiles = new Map<string, CliProfile>();
  const marks: string[] = [];
  const environment = { PATH: process.env.PATH, ...options.environment };
  const newMark = () => {
    const mark = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
    marks.push(mark);
    return mark;
  };
  const deps = { clock: createTestClock(), ledger, environment, newMark };
  const adapter = createCliAdapter({ name: 'cli', profiles, allow }, deps);
  const start = (script: string, profile: object = {}, { window, ...values }: SpecValues = {}): Running => {
    const target = `t${profiles.size}`;
    profiles.set(target, shProfile(script, directory, profile));
    const sink = createRecordingSink(window);
    const stop = new AbortController();
    const end = adapter.execute(chatSpec(target, values), sink, stop.signal).then((result) => {
      sink.close();
      return result;
    });
    return { sink, stop, end };
  };
  const run = async (script: string, profile: object = {}, values: SpecValues = {}) => {
    const { sink, end } = start(script, profile, values);
    return { sink, end: await end };
  };
  return { directory, ledger, adapter, marks, descendants: () => below(marks), isStillThere, start, run };
}

export function shProfile(script: string, directory: string, profile: object = {}): CliProfile {
  const value = {
    program: '/bin/sh',
    args: ['-c', script],
    directory,
    drain: '300ms',
    grace: '500ms',
    ...profile,
  };
  const parsed = parseCliProfile(JSON.stringify(value));
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.join('; '));
  return parsed.profile;
}

/** Everything alive that carries one of the marks. */
export function alive(marks: readonly string[]): number[] {
  const rows = readProcessTable();
  return rows
    .filter(({ pid }) => marks.some((mark) => hasVariable(pid, `${markVariable}=${mark}`)))
    .map(({ pid }) => pid);
}

function below(marks: readonly string[]): ProcessRow[] {
  const rows = readProcessTable();
  const pids = new Set(alive(marks));
  for (let before = -1; before !== pids.size; ) {
    before = pids.size;
    for (const { pid, parent, group } of rows) if (pids.has(parent) || pids.has(group)) pids.add(pid);
  }
  return rows.filter(({ pid }) => pids.has(pid));
}

function isStillThere({ pid, startTicks }: ProcessRow): boolean {
  return readProcessTable().some((row) => row.pid === pid && row.startTicks === startTicks);
}

export async function eventually(condition: () => boolean, what: string, timeoutMs = 10_000): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > until) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(10);
  }
}

export function failureOf(end: RunEnd): RunFailure {
  if (end.kind !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(end)}`);
  return end.failure;
}
