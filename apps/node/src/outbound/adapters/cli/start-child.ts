import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { CliProfile } from '@iop/cli-profile';
import type { RunFailure } from '@iop/domain';
import { cliFailure } from './exit-verdict.ts';
import type { Place } from './program-guard.ts';

export type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ChildPlan {
  profile: CliProfile;
  place: Place;
  variables: Record<string, string>;
  prompt: string;
}

export type Started =
  | { kind: 'started'; child: Child; pid: number }
  | { kind: 'failed'; failure: RunFailure };

/** Executes the program in a session of its own; never by a shell (C1). */
export async function startChild({ profile, place, variables, prompt }: ChildPlan): Promise<Started> {
  const isArgument = profile.prompt === 'argument';
  const args = isArgument ? [...profile.args, '--', prompt] : [...profile.args];
  try {
    const child = spawn(place.program, args, {
      argv0: basename(profile.program),
      cwd: place.directory,
      env: variables,
      detached: true,
      shell: false,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    if (child.pid === undefined) return notStarted(profile, (await once(child, 'error'))[0]);
    feed(child, isArgument ? '' : prompt);
    return { kind: 'started', child, pid: child.pid };
  } catch (error) {
    return notStarted(profile, error);
  }
}

/** A program that does not read its input, or not all of it, has not failed by that. */
function feed(child: Child, text: string): void {
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.stdin.end(text);
}

/** Nothing was started, so another Node may try (C11). */
export function notStarted(profile: CliProfile, reason: unknown): Extract<Started, { kind: 'failed' }> {
  const { code, message } = reason as NodeJS.ErrnoException;
  const words = `${profile.program} could not be started: ${code ?? message}`;
  return {
    kind: 'failed',
    failure: { ...cliFailure('unavailable', 'cli.not-started', words), retryable: true },
  };
}
