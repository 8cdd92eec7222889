import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { isSea } from 'node:sea';
import { IopError } from '@iop/domain';

export type PartName = 'edge' | 'node';

/** Set for every part, so that no part can ever start parts of its own, whatever binary it turns out to be. */
export const partMark = 'IOP_UP_PART';

/**
 * The command that starts a part. From source: the Node.js that runs this, on the part's main file. In
 * a single-file binary `process.execPath` is `iop` itself, so there the part's binary beside it.
 */
export function partCommand(name: PartName): string[] {
  if (isSea()) return [existing(join(dirname(process.execPath), `iop-${name}`))];
  return [process.execPath, existing(join(import.meta.dirname, `../../../${name}/src/main.ts`))];
}

export function assertNotPart(env: Readonly<Record<string, string | undefined>>): void {
  if (env[partMark] === undefined) return;
  const message = '`iop up` was started by another `iop up` as one of its parts';
  throw new IopError({ kind: 'internal', code: 'up.nested', message });
}

function existing(path: string): string {
  if (existsSync(path)) return path;
  const message = `${path} is missing: the programs of IOP are installed together`;
  throw new IopError({ kind: 'unavailable', code: 'up.part-missing', message, details: { path } });
}
