import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { IopError } from '@iop/domain';
import { randomBytes } from '../random.ts';

/** Writes a file that only its owner may read (0600). Atomic: readers see the old text or the new. */
export function writeSecretFile(path: string, text: string): void {
  const temporary = `${path}.${Buffer.from(randomBytes(6)).toString('hex')}.tmp`;
  try {
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      writeSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
    syncDir(dirname(path));
  } catch (cause) {
    discard(temporary);
    throw new IopError({
      kind: 'unavailable',
      code: 'secret.write',
      message: `cannot write ${path}: ${(cause as Error).message}`,
      cause,
    });
  }
}

/** The text without white space at its end. Refuses a file that everybody may read or others may write. */
export function readSecretFile(path: string): string {
  let text: string;
  let mode: number;
  try {
    mode = statSync(path).mode;
    text = readFileSync(path, 'utf8').trimEnd();
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw secretError(path, missing ? 'there is no such file' : (cause as Error).message, cause);
  }
  if ((mode & 0o027) !== 0) throw secretError(path, `others may use it; run \`chmod 600 ${path}\``);
  if (text === '') throw secretError(path, 'it is empty');
  return text;
}

function secretError(path: string, why: string, cause?: unknown): IopError {
  const message = `cannot read the secret in ${path}: ${why}`;
  return new IopError({ kind: 'invalid', code: 'config.secret', message, details: { path }, cause });
}

function syncDir(dir: string): void {
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // it was renamed or never made
  }
}
