import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, sep } from 'node:path';
import { IopError, toIopError } from '@iop/domain';
import { readSecretFile } from '@iop/shell';
import type { Allow } from '../../../ports/adapter-factory.ts';

/** What is wrong with `api_key_file` of an adapter on this Node; an empty name means none and is right. */
export function keyFileProblems(file: string, allow: Allow): string[] {
  if (file === '') return [];
  if (!isAbsolute(file)) return [`api_key_file: ${file} is not an absolute path`];
  let real: string;
  try {
    real = realpathSync(file);
    if (!statSync(real).isFile()) return [`api_key_file: ${file} is not a file`];
  } catch {
    return [`api_key_file: ${file} cannot be read on this Node`];
  }
  // The real path: a link inside an allowed directory must not lead out of it.
  if (allow.directories.some((directory) => isInside(real, directory))) return contentProblems(file);
  const list = allow.directories.length === 0 ? 'none' : allow.directories.join(', ');
  return [`api_key_file: ${file} is not in a directory that node.yaml allows (allow.directories: ${list})`];
}

/**
 * The key in `file`; empty for an empty name.
 * @throws IopError for a file that is empty, or that others may read
 */
export function readApiKey(file: string): string {
  if (file === '') return '';
  const key = readSecretFile(file);
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const message = `api_key_file: ${file} does not hold one line with a key`;
  throw new IopError({ kind: 'invalid', code: 'config.invalid', message });
}

function contentProblems(file: string): string[] {
  try {
    readApiKey(file);
    return [];
  } catch (reason) {
    return [`api_key_file: ${toIopError(reason).message}`];
  }
}

function isInside(real: string, directory: string): boolean {
  try {
    const base = realpathSync(directory);
    return real.startsWith(base.endsWith(sep) ? base : base + sep);
  } catch {
    return false;
  }
}
