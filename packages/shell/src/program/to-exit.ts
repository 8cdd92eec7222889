import { type ErrorKind, toIopError } from '@iop/domain';

/** After sysexits.h, so that systemd and scripts can tell what to do next. */
export const exitCodes = {
  ok: 0,
  usage: 64,
  unavailable: 69,
  bug: 70,
  tryAgain: 75,
  config: 78,
} as const;

/** What asked the program to stop. */
export type StopCause = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'parent-gone' | 'stdout-closed';

/** Each row with its why. */
const exitOfKind: Readonly<Record<ErrorKind, number>> = {
  invalid: exitCodes.usage, // the same command line is refused again
  unauthenticated: exitCodes.config, // the token, key or pin that was configured is wrong
  forbidden: exitCodes.config, // somebody has to change a policy
  'not-found': exitCodes.usage, // the name that was typed does not exist
  conflict: exitCodes.tryAgain, // another one holds it now
  exhausted: exitCodes.tryAgain, // full now
  unavailable: exitCodes.unavailable, // not there
  timeout: exitCodes.tryAgain, // too slow now
  cancelled: exitCodes.tryAgain, // somebody else stopped it
  unsupported: exitCodes.usage, // it cannot be done by what was asked
  internal: exitCodes.bug,
};

const exitOfStop: Readonly<Record<StopCause, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
  'parent-gone': 143,
  'stdout-closed': 141,
};

/**
 * The exit code of a program that failed with `reason`. Configuration errors carry a code that begins
 * with `config.`. A program that was told to stop and reports `cancelled` died of the signal. One that
 * stands for another program (`details.exitCode`) ends as that one did.
 */
export function toExit(reason: unknown, stop?: StopCause): number {
  const error = toIopError(reason);
  const { exitCode } = error.details;
  if (typeof exitCode === 'number' && exitCode > 0 && exitCode < 256) return exitCode;
  if (error.code.startsWith('config.')) return exitCodes.config;
  if (error.kind === 'cancelled' && stop !== undefined) return exitOfStop[stop];
  return exitOfKind[error.kind];
}

/**
 * The exit code of a program that ended well. SIGTERM and a gone parent are how services are stopped,
 * so that is a success; Ctrl-C is told to the shell, which then stops its loop too, except for a
 * service, which has no other end than to be stopped.
 */
export function exitOfEnd(stop: StopCause | undefined, service = false): number {
  const wanted = stop === undefined || stop === 'SIGTERM' || stop === 'parent-gone';
  return wanted || service ? exitCodes.ok : exitOfStop[stop];
}
