import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { eventually, within } from './eventually.ts';

/** How a child process ended. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** One of our programs as a child process. Its output is kept as lines; its life is bounded. */
export interface Program {
  readonly name: string;
  readonly pid: number;
  readonly lines: readonly string[];
  readonly running: boolean;
  readonly exited: Promise<Exit>;
  /** Waits for a line of its output, one that was printed earlier included. */
  line(pattern: RegExp, timeoutMs: number): Promise<string>;
  /** SIGTERM; throws when it does not end within 12 s. */
  stop(): Promise<Exit>;
  /** SIGKILL. */
  kill(): Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
  /** Anonymous resident memory: without the pages of the executable. */
  memoryBytes(): number;
  /** Processor time that it has taken, all threads together. */
  cpuMs(): number;
}

/** What may be asked of any process. */
export interface ProcessWishes {
  env?: Record<string, string> | undefined;
  /** Killed after so long, whatever happens; half an hour unless said. */
  lifeMs?: number | undefined;
}

export interface ProgramInit extends ProcessWishes {
  name: string;
  command: readonly string[];
}

const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Pids of programs that were started here and have not ended. */
export function livingPids(): number[] {
  return [...living].map((child) => child.pid ?? 0);
}

export function startProgram(init: ProgramInit): Program {
  const child = spawnBound(init);
  const lines = collectLines(child);
  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      living.delete(child);
      clearTimeout(life);
      exit = { code, signal };
      resolve(exit);
    });
  });
  const life = setTimeout(() => child.kill('SIGKILL'), init.lifeMs ?? 1_800_000);
  life.unref();
  const pid = child.pid ?? 0;
  const story = () => `${init.name} printed last:\n  ${lines.slice(-15).join('\n  ')}`;

  return {
    name: init.name,
    pid,
    lines,
    exited,
    get running() {
      return exit === undefined;
    },
    async line(pattern, timeoutMs) {
      try {
        return await eventually(`${init.name} prints ${pattern}`, timeoutMs, () => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined && exit !== undefined) throw new Error(`it ended: ${JSON.stringify(exit)}`);
          return found;
        });
      } catch (cause) {
        throw new Error(`${(cause as Error).message}; ${story()}`, { cause });
      }
    },
    async stop() {
      child.kill('SIGTERM');
      child.kill('SIGCONT');
      try {
        return await within(`${init.name} ends after SIGTERM`, 12_000, exited);
      } catch (cause) {
        child.kill('SIGKILL');
        throw new Error(`${(cause as Error).message}; ${story()}`, { cause });
      }
    },
    async kill() {
      child.kill('SIGKILL');
      return await exited;
    },
    signal: (signal) => void child.kill(signal),
    memoryBytes: () => anonymousBytes(pid),
    cpuMs: () => processorMs(pid),
  };
}

/** The kernel ends the child with us even if we are killed: nothing may outlive a test run. */
const pdeath = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : [];

function spawnBound(init: ProgramInit): ChildProcess {
  const [file = '', ...args] = [...pdeath, ...init.command];
  const child = spawn(file, args, {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...compileCache(), ...init.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  living.add(child);
  return child;
}

/** Programs that are started again and again need not compile the same modules anew. */
function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

function collectLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  const loud = process.env.IOP_E2E_LOG !== undefined;
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream as Readable }).on('line', (line) => {
      lines.push(line);
      if (loud) process.stderr.write(`[${child.pid}] ${line}\n`);
    });
  }
  return lines;
}

function anonymousBytes(pid: number): number {
  const found = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (found === null) throw new Error(`/proc/${pid}/status names no RssAnon`);
  return Number(found[1]) * 1024;
}

/** The kernel counts in hundredths of a second. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
