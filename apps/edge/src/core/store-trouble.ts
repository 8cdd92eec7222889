import { toIopError } from '@iop/domain';

/** The store could not be asked or could not write; nothing was half done. */
export function storeTrouble(reason: unknown): { kind: 'store-unavailable'; detail: string } {
  return { kind: 'store-unavailable', detail: toIopError(reason).message };
}
