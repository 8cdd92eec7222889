import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { stopOnStdinEnd } from '@iop/shell/program';
import { type PartName, partMark } from './part-command.ts';

export interface PartOptions {
  name: PartName;
  command: readonly string[];
  logDir: string;
  /** Lines of the part go here, prefixed, instead of to its log file. */
  echo?: Writable;
}

export interface PartEnd {
  name: PartName;
  /** Of the process; 128 + signal when one killed it. */
  exitCode: number;
}

/** A program that runs below this one. */
export interface Part {
  readonly name: PartName;
  readonly logFile: string;
  /** Resolves when the process is gone; never rejects. */
  readonly ended: Promise<PartEnd>;
  /** The last lines that it wrote. */
  lastLines(count: number): string[];
  terminate(): void;
  kill(): void;
}

/**
 * Starts a part in a process group of its own, so that Ctrl-C reaches only us and we end the parts in
 * order. Its stdin is a pipe that we hold: however we die, SIGKILL included, the kernel closes it, and
 * the part's shell takes the end of its stdin as SIGTERM.
 */
export function startPart(options: PartOptions): Part {
  const { name, command, logDir, echo } = options;
  const logFile = join(logDir, `${name}.log`);
  const [file = '', ...args] = command;
  const log = echo === undefined ? openLog(logFile) : undefined;
  const stdio: StdioOptions = log === undefined ? ['pipe', 'pipe', 'pipe'] : ['pipe', log, log];
  const child = spawn(file, args, {
    stdio,
    detached: true,
    env: { ...process.env, [stopOnStdinEnd]: '1', [partMark]: name },
  });
  if (log !== undefined) closeSync(log);
  child.stdin?.on('error', () => {});
  const heard = echo === undefined ? undefined : echoLines(child, name, echo);
  return {
    name,
    logFile,
    ended: endOf(child, name),
    lastLines: (count) => (heard ?? readLines(logFile)).slice(-count),
    terminate: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  };
}

function endOf(child: ChildProcess, name: PartName): Promise<PartEnd> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ name, exitCode: 69 }));
    child.once('exit', (code, signal) => {
      resolve({ name, exitCode: signal === null ? (code ?? 70) : 128 + constants.signals[signal] });
    });
  });
}

/** One log a start, and that of the start before. */
function openLog(path: string): number {
  try {
    renameSync(path, `${path}.1`);
  } catch {
    // the first start
  }
  return openSync(path, 'a', 0o600);
}

function echoLines(child: ChildProcess, name: PartName, echo: Writable): string[] {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr] as Readable[]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (lines.length > 20) lines.shift();
      echo.write(`[${name}] ${line}\n`);
    });
  }
  return lines;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-20);
  } catch {
    return [];
  }
}
