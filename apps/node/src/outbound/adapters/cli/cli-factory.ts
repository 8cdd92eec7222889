import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { type CliProfile, parseCliProfile } from '@iop/cli-profile';
import { type Clock, IopError } from '@iop/domain';
import type { AdapterConfiguration, AdapterFactory, Allow } from '../../../ports/adapter-factory.ts';
import { environmentProblems } from './child-environment.ts';
import { createCliAdapter } from './cli-adapter.ts';
import type { OrphanLedger } from './orphan-ledger.ts';
import { findPlace } from './program-guard.ts';

export function createCliFactory(deps: { clock: Clock; ledger: OrphanLedger }): AdapterFactory {
  return {
    check: (configuration, allow) => readTargets(configuration, allow).problems,
    create(configuration, allow) {
      const { profiles, problems } = readTargets(configuration, allow);
      if (problems.length > 0)
        throw new IopError({ kind: 'invalid', code: 'config.invalid', message: problems.join('; ') });
      return createCliAdapter(
        { name: configuration.name, profiles, allow },
        { ...deps, environment: process.env, newMark: () => randomBytes(16).toString('hex') },
      );
    },
  };
}

function readTargets({ targets }: AdapterConfiguration, allow: Allow) {
  const profiles = new Map<string, CliProfile>();
  const problems: string[] = [];
  if (targets.length === 0) problems.push('targets: a cli adapter needs at least one');
  for (const { name, cliProfileJson } of targets) {
    const parsed = parseCliProfile(cliProfileJson || '{}');
    const found = parsed.kind === 'invalid' ? parsed.problems : profileProblems(parsed.profile, allow);
    problems.push(...found.map((problem) => `targets.${name}.${problem}`));
    if (parsed.kind === 'profile') profiles.set(name, parsed.profile);
  }
  return { profiles, problems };
}

function profileProblems(profile: CliProfile, allow: Allow): string[] {
  const place = findPlace(profile, allow);
  const environment = environmentProblems(profile, allow.environment ?? []);
  return place.kind === 'refused' ? [...place.problems, ...environment] : environment;
}
