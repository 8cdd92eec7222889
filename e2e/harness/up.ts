import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, within } from './eventually.ts';
import type { Exit } from './program.ts';

export const binUp = join(import.meta.dirname, '../../bin/up');
export const iopMain = join(import.meta.dirname, '../../apps/cli/src/main.ts');

/** What `--json` prints. */
export interface UpFacts {
  edge: { http: string; wire: string };
  apiKey: string;
  stateDir: string;
}

/** `iop up` as its user starts it; stdout apart from stderr, its life bounded. */
export interface Up {
  readonly pid: number;
  readonly out: string;
  readonly err: string;
  readonly exited: Promise<Exit>;
  /** Of Edge and Node. */
  partPids(): number[];
  /** With `--json`: waits for the line. */
  facts(): Promise<UpFacts>;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, then waits. */
  stop(): Promise<Exit>;
}

const startWithinMs = 80_000;
const stopWithinMs = 12_000;

export function startUp(command: readonly string[], env: Record<string, string> = {}): Up {
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 170_000,
  });
  const text = collect(child);
  const exited = new Promise<Exit>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  const pid = child.pid ?? 0;
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    get out() {
      return text.out;
    },
    get err() {
      return text.err;
    },
    exited,
    partPids: () => childPids(pid),
    facts: () =>
      eventually('iop up says that it is up', startWithinMs, () => {
        if (!running()) throw new Error(`iop up ended before it was up: ${text.err}`);
        return text.out.includes('\n') ? (JSON.parse(text.out) as UpFacts) : undefined;
      }),
    signal: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGTERM');
      return await within('iop up ends', stopWithinMs, exited);
    },
  };
}

function collect(child: ChildProcess): { out: string; err: string } {
  const text = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text.out += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text.err += chunk;
  });
  return text;
}

/** Children at this moment, as the kernel knows them. */
function childPids(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2).charAt(0));
  } catch {
    return false;
  }
}
