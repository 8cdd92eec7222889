import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { IopError } from '@iop/domain';

/** Creates the directory where it is missing, makes it 0700 and gives its absolute path. */
export function openStateDir(path: string): string {
  const dir = resolve(path);
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const stat = statSync(dir);
    // Keys lie here: whoever may look in or rename files may be us.
    if ((stat.mode & 0o077) !== 0) chmodSync(dir, 0o700);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw stateDirError(dir, cause as NodeJS.ErrnoException);
  }
  return dir;
}

/** Makes a file of the directory nobody else's to read, before anything is in it: databases hold what callers said. */
export function keepPrivate(file: string): string {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  return file;
}

function stateDirError(dir: string, cause: NodeJS.ErrnoException): IopError {
  const why: Record<string, string> = {
    EACCES: 'no permission; choose another directory or give this user the right to write there',
    EPERM: 'it belongs to another user; choose another directory or change its owner',
    EEXIST: 'a file of that name is in the way',
    ENOTDIR: 'a part of the path is a file',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
  };
  return new IopError({
    kind: 'invalid',
    code: 'config.state-dir',
    message: `cannot use ${dir} as state directory: ${why[cause.code ?? ''] ?? cause.message}`,
    details: { path: dir },
    cause,
  });
}
