import { type ChildProcess, spawn } from 'node:child_process';
import type { Edge } from './edge.ts';
import { iopMain } from './up.ts';

export interface IopEnded {
  code: number | null;
  out: string;
  err: string;
}

export interface IopStarted {
  child: ChildProcess;
  /** So far. */
  text: { out: string; err: string };
  ended: Promise<IopEnded>;
}

/** Starts the operator's command line, with nothing of the user's own. */
export function startIop(args: readonly string[]): IopStarted {
  const child = spawn(process.execPath, [iopMain, ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 40_000,
  });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
  });
  const ended = new Promise<IopEnded>((resolve) => child.on('close', (code) => resolve({ code, ...text })));
  return { child, text, ended };
}

/** Runs it against this Edge to its end. */
export function iop(edge: Pick<Edge, 'socketPath'>, ...args: readonly string[]): Promise<IopEnded> {
  return startIop([...args, '--socket', edge.socketPath]).ended;
}

/** The answer of `--json`. */
export async function iopJson<T>(edge: Pick<Edge, 'socketPath'>, ...args: readonly string[]): Promise<T> {
  const { code, out, err } = await iop(edge, ...args, '--json');
  if (code !== 0) throw new Error(`iop ${args.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out) as T;
}
