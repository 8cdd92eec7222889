import { getAsset, isSea } from 'node:sea';

/** Where the code of the store thread comes from. */
export type ThreadSource = { kind: 'file'; url: URL } | { kind: 'text'; code: string };

/** The asset of a single-file binary, which has no files beside it. */
export const storeThreadAsset = 'store-thread.js';

export function findThreadSource(): ThreadSource {
  if (isSea()) return { kind: 'text', code: getAsset(storeThreadAsset, 'utf8') };
  return { kind: 'file', url: new URL('./store-thread.ts', import.meta.url) };
}
