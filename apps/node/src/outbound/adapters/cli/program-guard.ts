import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, sep } from 'node:path';
import type { CliProfile } from '@iop/cli-profile';
import type { Allow } from '../../../ports/adapter-factory.ts';

export interface Place {
  /** Real paths: what was checked is what is executed. */
  program: string;
  directory: string;
}

export type FoundPlace = { kind: 'place'; place: Place } | { kind: 'refused'; problems: string[] };

/** Program and working directory of a profile within `node.yaml: allow` (C3). */
export function findPlace(profile: CliProfile, allow: Allow): FoundPlace {
  const program = findProgram(profile.program, allow.programs);
  const directory = findDirectory(profile.directory, allow.directories);
  const problems = [...program.problems, ...directory.problems];
  if (problems.length > 0) return { kind: 'refused', problems };
  return { kind: 'place', place: { program: program.path, directory: directory.path } };
}

interface Found {
  path: string;
  problems: string[];
}

/** A bare name means the allowed program of that name; the PATH is never searched. */
function findProgram(name: string, allowed: readonly string[]): Found {
  const list = allowed.length === 0 ? 'none' : allowed.join(', ');
  const fits = isAbsolute(name)
    ? allowed.filter((entry) => isSameFile(entry, name))
    : namesakes(name, allowed);
  if (fits.length === 0)
    return problem(`program: ${name} is not allowed by node.yaml (allow.programs: ${list})`);
  const real = new Set(fits.map(realOf).filter((path) => path !== undefined));
  if (real.size > 1)
    return problem(`program: ${name} is more than one of allow.programs (${fits.join(', ')})`);
  const [path] = real;
  if (path === undefined) return problem(`program: ${fits[0]} is not there on this Node`);
  return isExecutable(path)
    ? { path, problems: [] }
    : problem(`program: ${path} cannot be executed on this Node`);
}

function namesakes(name: string, allowed: readonly string[]): string[] {
  if (name.includes(sep)) return [];
  return allowed.filter((entry) => isAbsolute(entry) && basename(entry) === name);
}

function findDirectory(name: string, allowed: readonly string[]): Found {
  if (!isAbsolute(name)) return problem(`directory: ${name} is not an absolute path`);
  const path = realOf(name);
  if (path === undefined || !isDirectory(path))
    return problem(`directory: ${name} is not a directory on this Node`);
  if (allowed.some((entry) => isInside(path, realOf(entry)))) return { path, problems: [] };
  const list = allowed.length === 0 ? 'none' : allowed.join(', ');
  return problem(
    `directory: ${name} is not in a directory that node.yaml allows (allow.directories: ${list})`,
  );
}

function isSameFile(entry: string, name: string): boolean {
  if (!isAbsolute(entry)) return false;
  return entry === name || (realOf(name) !== undefined && realOf(entry) === realOf(name));
}

function isInside(path: string, base: string | undefined): boolean {
  if (base === undefined) return false;
  return path === base || path.startsWith(base.endsWith(sep) ? base : base + sep);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function problem(text: string): Found {
  return { path: '', problems: [text] };
}
