import { hash } from 'node:crypto';
import type { EdgeSettings } from '../core/settings.ts';

/** The same content has the same number, also after a restart: Nodes then keep their adapters. */
export async function numberSettings(
  settings: Omit<EdgeSettings, 'revision'>,
  revisionOf: (hash: string) => Promise<number>,
): Promise<EdgeSettings> {
  return { ...settings, revision: await revisionOf(hash('sha256', JSON.stringify(settings), 'hex')) };
}
