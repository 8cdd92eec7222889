import type { CliProfile } from '@iop/cli-profile';
import {
  type ErrorDetails,
  type ErrorKind,
  type FinishReason,
  finishReasons,
  type RunEnd,
  type RunFailure,
} from '@iop/domain';

/** How the leader of a run ended: one of the two is set. */
export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Ended {
  exit: ChildExit;
  /** Anything for the caller was put out. */
  hasOutput: boolean;
  /** The tail of stderr, masked; empty: it said nothing. */
  stderr: string;
}

/** The end of a run whose program ended by itself and whose output was read without a fault. */
export function verdictOf(profile: CliProfile, { exit, hasOutput, stderr }: Ended): RunEnd {
  const tail = stderr === '' ? '' : `; stderr ends with: ${stderr}`;
  if (exit.signal !== null) {
    const message = `${profile.program} was ended by ${exit.signal}${tail}`;
    return failedEnd(cliFailure('unavailable', 'cli.killed', message, { signal: exit.signal }));
  }
  const code = exit.code ?? 0;
  const meaning = profile.exit_codes[String(code)] ?? (code === 0 ? 'stop' : 'unavailable');
  if (!isFinish(meaning)) {
    const message = `${profile.program} ended with exit code ${code}${tail}`;
    return failedEnd(cliFailure(meaning, 'cli.exit', message, { exitCode: code }));
  }
  if (hasOutput || profile.allow_empty) return { kind: 'completed', finish: meaning };
  const message = `${profile.program} ended with exit code ${code} and put nothing out${tail}`;
  return failedEnd(cliFailure('unavailable', 'cli.no-output', message, { exitCode: code }));
}

/** Never retryable: whoever started nothing says so itself (C11). */
export function cliFailure(
  kind: ErrorKind,
  code: string,
  message: string,
  details: ErrorDetails = {},
): RunFailure {
  return { kind, code, message, details, retryable: false };
}

export function failedEnd(failure: RunFailure): RunEnd {
  return { kind: 'failed', failure };
}

function isFinish(meaning: string): meaning is FinishReason {
  return (finishReasons as readonly string[]).includes(meaning);
}
