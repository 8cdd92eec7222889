import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ChildSpec {
  name: string;
  /** The one CPU it may run on. */
  cpu: number;
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** With a channel for messages; for our own programs. */
  ipc?: boolean;
  logFd?: number;
}

/** A child on one CPU that ends with us, even when we are killed (`setpriv --pdeathsig`). The pid is the program's own. */
export function startChild(spec: ChildSpec): ChildProcess {
  const output = spec.logFd ?? 'ignore';
  const stdio: StdioOptions = ['ignore', output, output];
  if (spec.ipc === true) stdio.push('ipc');
  const wrapper = ['--pdeathsig', 'TERM', 'taskset', '-c', String(spec.cpu), spec.command, ...spec.args];
  return spawn('setpriv', wrapper, {
    stdio,
    env: { ...process.env, NODE_OPTIONS: '', ...spec.env },
    ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
  });
}

export function pidOf(child: ChildProcess, name: string): number {
  if (child.pid === undefined)
    throw new Error(`${name} could not be started: are setpriv and taskset installed?`);
  return child.pid;
}

/** TERM, and KILL after `graceMs`. */
export async function stopChild(child: ChildProcess, graceMs = 3000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}

/** First message of an own program: where it listens. */
export async function listeningPort(child: ChildProcess, name: string): Promise<number> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${name} exited with ${code} before it listened`);
  });
  failed.catch(() => undefined);
  const [message] = await Promise.race([once(child, 'message'), failed]);
  return (message as { port: number }).port;
}
