import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { IopError } from '@iop/domain';
import { type KnownAgent, knownAgents } from './known-agents.ts';

export interface FoundAgent extends KnownAgent {
  /** Absolute, as it stands on the PATH. */
  program: string;
}

/** The known agents that are on this PATH. Looks at files only; starts nothing. */
export function findAgents(path: string): FoundAgent[] {
  const folders = path.split(delimiter).filter(isAbsolute);
  return knownAgents.flatMap((agent) => {
    const program = folders.map((folder) => join(folder, agent.name)).find(isExecutable);
    return program === undefined ? [] : [{ ...agent, program }];
  });
}

/**
 * Those that the user named, or all; none unless asked: such a program works with the user's login.
 * @throws IopError `invalid` for one that is not known or not there
 */
export function chooseAgents(asked: string | undefined, found: readonly FoundAgent[]): FoundAgent[] {
  if (asked === undefined) return [];
  const names = asked.split(',').map((name) => name.trim());
  if (names.includes('all')) return [...found];
  return names.map((name) => found.find((agent) => agent.name === name) ?? refuse(name, found));
}

function refuse(name: string, found: readonly FoundAgent[]): never {
  const isKnown = knownAgents.some((agent) => agent.name === name);
  const known = knownAgents.map((agent) => agent.name).join(', ');
  const there = found.length === 0 ? 'none' : found.map((agent) => agent.name).join(', ');
  const message = isKnown
    ? `--agents: there is no ${name} on the PATH (found: ${there})`
    : `--agents: ${JSON.stringify(name)} is not one of all, ${known}; for other programs write a profile (docs/cli-agents.md)`;
  throw new IopError({ kind: 'invalid', code: 'usage', message, details: { name } });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
