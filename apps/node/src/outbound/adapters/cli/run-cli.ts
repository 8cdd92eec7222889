import type { CliProfile } from '@iop/cli-profile';
import type { Clock, RunEnd } from '@iop/domain';
import { cancelCauseOf, type EventSink, type ExecutionSpec } from '@iop/runtime';
import { childEnvironment } from './child-environment.ts';
import { CliRun } from './cli-run.ts';
import { failedEnd } from './exit-verdict.ts';
import type { OrphanLedger } from './orphan-ledger.ts';
import type { Place } from './program-guard.ts';
import { RunProcesses } from './run-processes.ts';
import { SecretMask } from './secret-mask.ts';
import { notStarted, startChild } from './start-child.ts';

export interface CliDeps {
  clock: Clock;
  ledger: OrphanLedger;
  /** The Node's own environment. */
  environment: Readonly<Record<string, string | undefined>>;
  /** 32 hex digits that nobody can guess, new each time. */
  newMark(): string;
}

export interface CliCall {
  profile: CliProfile;
  place: Place;
  prompt: string;
  spec: ExecutionSpec;
  sink: EventSink;
  signal: AbortSignal;
}

/** Starts the program of a run and brings it to its one end, with nothing left of it. */
export async function runCli(call: CliCall, deps: CliDeps): Promise<RunEnd> {
  const { profile, place, prompt, spec, sink, signal } = call;
  if (signal.aborted) return { kind: 'cancelled', by: cancelCauseOf(signal) };
  const mark = deps.newMark();
  const { variables, secrets } = childEnvironment(profile, deps.environment, mark);
  let processes: RunProcesses;
  try {
    processes = new RunProcesses({ ...deps, runId: spec.runId, attempt: spec.attempt, mark });
  } catch (reason) {
    return failedEnd(notStarted(profile, reason).failure);
  }
  const started = await startChild({ profile, place, variables, prompt });
  if (started.kind === 'failed') {
    processes.forget();
    return failedEnd(started.failure);
  }
  processes.started(started.pid);
  const { child } = started;
  const mask = new SecretMask(secrets);
  const { clock } = deps;
  return await new CliRun({ profile, sink, signal, clock, child, processes, mask }).run();
}
