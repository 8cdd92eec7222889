import type { CliProfile } from '@iop/cli-profile';
import type { RunEnd } from '@iop/domain';
import type { Adapter, Capabilities, EventSink, ExecutionSpec, TargetFact } from '@iop/runtime';
import type { Allow } from '../../../ports/adapter-factory.ts';
import { readPrompt } from './cli-prompt.ts';
import { cliFailure, failedEnd } from './exit-verdict.ts';
import { findPlace } from './program-guard.ts';
import { type CliDeps, runCli } from './run-cli.ts';

export interface CliOptions {
  name: string;
  /** By target. */
  profiles: ReadonlyMap<string, CliProfile>;
  allow: Allow;
}

/** Programs and CLI agents as targets: one process for each run. See DESIGN.md. */
export function createCliAdapter(options: CliOptions, deps: CliDeps): Adapter {
  return {
    name: options.name,
    kind: 'cli',
    retry: 'before-start',
    sessions: 'pinned',
    dialects: ['openai.chat', 'iop.prompt'],
    capabilities: async () => lookAt(options),
    execute: (spec, sink, signal) => execute(options, deps, { spec, sink, signal }),
    close: async () => {},
  };
}

/** Any profile can; what its program does with tools of its own is not seen from outside. */
const facts: readonly TargetFact[] = [{ name: 'chat', holds: true, source: 'declared' }];

/** Looks at files only. One profile that cannot run does not take the others away. */
function lookAt({ profiles, allow }: CliOptions): Capabilities {
  const targets: Capabilities['targets'][number][] = [];
  const problems: string[] = [];
  for (const [name, profile] of profiles) {
    const found = findPlace(profile, allow);
    if (found.kind === 'place') targets.push({ name, facts });
    else problems.push(...found.problems.map((problem) => `${name}: ${problem}`));
  }
  return { healthy: targets.length > 0, detail: problems.join('; '), targets };
}

interface Call {
  spec: ExecutionSpec;
  sink: EventSink;
  signal: AbortSignal;
}

async function execute(options: CliOptions, deps: CliDeps, call: Call): Promise<RunEnd> {
  const { profiles, allow } = options;
  const { target } = call.spec;
  const profile = profiles.get(target);
  if (profile === undefined) {
    const message = `${options.name} has no target ${target}; it has ${[...profiles.keys()].join(', ')}`;
    return failedEnd(cliFailure('not-found', 'target.unknown', message));
  }
  const read = readPrompt(call.spec, profile);
  if (read.kind === 'refused') return failedEnd(read.failure);
  // Links and files may have changed since the configuration came (C3).
  const found = findPlace(profile, allow);
  if (found.kind === 'refused') {
    const failure = cliFailure('forbidden', 'cli.not-allowed', `${target}: ${found.problems.join('; ')}`);
    return failedEnd({ ...failure, retryable: true });
  }
  return await runCli({ ...call, profile, place: found.place, prompt: read.text }, deps);
}
