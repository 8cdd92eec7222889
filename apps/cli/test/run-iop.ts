import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface RunningIop {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Waits until stdout holds this text. */
  shows(text: string): Promise<void>;
}

const main = join(import.meta.dirname, '../src/main.ts');

/** `iop` as a child process, bounded in time. */
export function startIop(args: readonly string[], input = ''): RunningIop {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    stdio: 'pipe',
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  const shows = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (out.includes(text)) resolve();
      };
      child.stdout.on('data', look);
      child.on('close', () => reject(new Error(`iop ended before it showed ${text}: ${out}${err}`)));
      look();
    });
  return { child, ended, shows };
}

export function runIop(args: readonly string[], input = ''): Promise<Ended> {
  return startIop(args, input).ended;
}
