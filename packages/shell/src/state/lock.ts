import { linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { IopError } from '@iop/domain';
import { isRunning, ownProcessIdentity, type ProcessIdentity } from './process-identity.ts';

/** Holds a state directory for one process; `release` or disposal gives it back. */
export interface StateLock {
  release(): void;
  [Symbol.dispose](): void;
}

interface LockRecord extends ProcessIdentity {
  program: string;
}

const takeoverMaxAgeMs = 5_000;

/**
 * Takes `<dir>/lock` for this process.
 *
 * L1: the file appears whole (linked into place), so a reader never sees half a record.
 * L2: a lock whose process is gone is taken over; only one of several takers gets it, because the
 *     removal of a stale lock is itself held by `<dir>/lock.takeover`.
 */
export function lockStateDir(dir: string, program: string): StateLock {
  const path = join(dir, 'lock');
  const record: LockRecord = { ...ownProcessIdentity(), program };
  for (let attempt = 0; attempt < 50; attempt++) {
    if (tryLink(path, JSON.stringify(record))) return createLock(path, record);
    const holder = readLock(path);
    if (holder !== undefined && isRunning(holder)) throw heldError(dir, holder);
    removeStale(path);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  throw lockError(`cannot take the lock ${path}; remove it if no other program uses ${dir}`, { path });
}

function tryLink(path: string, text: string): boolean {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  try {
    linkSync(temporary, path);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw lockError(`cannot take the lock ${path}: ${(cause as Error).message}`, { path });
  } finally {
    unlinkSync(temporary);
  }
}

function readLock(path: string): LockRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isLockRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isLockRecord(value: unknown): value is LockRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Partial<LockRecord>;
  return (
    typeof record.pid === 'number' &&
    typeof record.startedAt === 'string' &&
    typeof record.program === 'string'
  );
}

function removeStale(path: string): void {
  const guard = `${path}.takeover`;
  if (!tryLink(guard, String(process.pid))) {
    if (ageMs(guard) > takeoverMaxAgeMs) unlinkIfThere(guard);
    return;
  }
  try {
    // Looked at again: between our look and our guard another one may have taken it over.
    const holder = readLock(path);
    if (holder === undefined || !isRunning(holder)) unlinkIfThere(path);
  } finally {
    unlinkIfThere(guard);
  }
}

function createLock(path: string, own: LockRecord): StateLock {
  let held = true;
  const release = (): void => {
    if (!held) return;
    held = false;
    if (readLock(path)?.pid === own.pid) unlinkIfThere(path);
  };
  return { release, [Symbol.dispose]: release };
}

function heldError(dir: string, holder: LockRecord): IopError {
  const message = `${dir} is in use by ${holder.program}, pid ${holder.pid}; stop it first or choose another state directory`;
  return lockError(message, { path: dir, pid: holder.pid });
}

function lockError(message: string, details: Record<string, string | number>): IopError {
  return new IopError({ kind: 'conflict', code: 'state-dir.locked', message, details });
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  }
}
