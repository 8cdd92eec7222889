import process from 'node:process';
import { IopError, toIopError } from '@iop/domain';
import { keepCompiled } from './compile-cache.ts';
import { formatError } from './format-error.ts';
import { type Parsed, parseArgv } from './parse-argv.ts';
import type { ProgramSpec } from './spec.ts';
import { createStopSource, type StopSource } from './stop-source.ts';
import { exitCodes, exitOfEnd, type StopCause, toExit } from './to-exit.ts';

/**
 * Runs a program to its exit. The only place that prints an error and chooses an exit code.
 *
 * The first SIGINT or SIGTERM fires the command's signal; a second SIGINT ends the process at once; a
 * command that has not ended `stopWithinMs` after the first is ended. Whatever nobody caught is a bug
 * (70). Never rejects.
 */
export async function runProgram(
  spec: ProgramSpec,
  argv: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const json = argv.includes('--json');
  const fail = (reason: unknown, stop?: StopCause): Promise<void> => {
    const quiet = stop !== undefined && toIopError(reason).kind === 'cancelled';
    if (!quiet) process.stderr.write(formatError(reason, spec.name, json));
    return exit(toExit(reason, stop));
  };
  // A bug leaves unknown state behind: say it and die, the supervisor above starts anew.
  process.on('uncaughtException', (reason) => void fail(asBug(reason)));
  process.on('unhandledRejection', (reason) => void fail(asBug(reason)));
  keepCompiled();
  const parsed = parseArgv(spec, argv);
  if (parsed.kind === 'usage') return fail(parsed.error);
  if (parsed.kind === 'told') {
    process.stdout.write(parsed.text);
    return exit(exitCodes.ok);
  }
  return runCommand(parsed, fail, spec.name);
}

async function runCommand(
  parsed: Extract<Parsed, { kind: 'run' }>,
  fail: (reason: unknown, stop?: StopCause) => Promise<void>,
  program: string,
): Promise<void> {
  const stopWithinMs = parsed.command.stopWithinMs ?? 10_000;
  const stop: StopSource = createStopSource((cause, nth) => {
    if (nth > 1 && cause === 'SIGINT') process.exit(130);
    if (nth === 1) endAfter(stopWithinMs, program);
  });
  try {
    const command = await parsed.command.load();
    const { args, options } = parsed;
    const { stdin, stdout, stderr } = process;
    await command.run({ args, options, signal: stop.signal, stdin, stdout, stderr });
  } catch (reason) {
    return fail(isAbort(reason, stop.signal) ? toCancelled(reason) : reason, stop.cause);
  }
  return exit(exitOfEnd(stop.cause, parsed.command.service));
}

function endAfter(delayMs: number, program: string): void {
  const timer = setTimeout(() => {
    process.stderr.write(`${program}: did not stop within ${delayMs} ms, ending\n`);
    process.exit(exitCodes.tryAgain);
  }, delayMs);
  timer.unref();
}

function isAbort(reason: unknown, signal: AbortSignal): boolean {
  return signal.aborted && reason instanceof Error && reason.name === 'AbortError';
}

function toCancelled(cause: unknown): IopError {
  return new IopError({ kind: 'cancelled', code: 'stopped', message: 'stopped', cause });
}

/** Even an IopError is a bug where nobody caught it. */
function asBug(reason: unknown): unknown {
  const error = toIopError(reason);
  if (error.kind === 'internal') return reason;
  return new IopError({ kind: 'internal', code: 'uncaught', message: error.message, cause: reason });
}

/** Leaves after what was written has gone out, whatever handles are still open. */
async function exit(code: number): Promise<void> {
  process.exitCode = code;
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  if (!stream.writable) return Promise.resolve();
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}
