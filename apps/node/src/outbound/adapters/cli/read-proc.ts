import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** Longer than any line of `stat`. */
const shared = Buffer.alloc(4096);

/**
 * A file of the kernel that it gives in one piece (`stat`, `environ`); empty: it is no longer there. A table of
 * processes has hundreds of these, and `readFileSync` takes 64 KiB for each, because they do not tell their size.
 */
export function readProc(file: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const sizeBytes = readSync(fd, shared, 0, shared.length, 0);
    return sizeBytes < shared.length ? shared.toString('latin1', 0, sizeBytes) : readFileSync(file, 'latin1');
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
