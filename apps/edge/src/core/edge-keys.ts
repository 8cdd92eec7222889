import type { KeyPolicy, KeyRole, StoredKey } from '../ports/key-store.ts';
import type { KeyAccess } from './key-access.ts';
import type { KeyBook, KeyChange } from './key-book.ts';
import type { RunContext } from './run.ts';

/** What operators may do with keys. */
export interface EdgeKeys {
  createKey(name: string, policy?: KeyPolicy): Promise<{ key: StoredKey; secret: string }>;
  listKeys(): readonly StoredKey[];
  revokeKey(id: string): Promise<StoredKey | undefined>;
  /** Counts for new runs and for those in line; what runs goes on. */
  setKey(id: string, change: KeyChange): Promise<StoredKey | undefined>;
  /** `running`: runs of the key that hold a place now. */
  keyStanding(key: StoredKey): { running: number; expired: boolean };
  /** undefined: there is no such key, or it was revoked. */
  keyRole(id: string): KeyRole | undefined;
}

export interface EdgeKeysDeps {
  ctx: RunContext;
  keys: KeyBook;
  access: KeyAccess;
}

export function createEdgeKeys({ ctx, keys, access }: EdgeKeysDeps): EdgeKeys {
  return {
    createKey: (name, policy) => keys.create(name, policy),
    listKeys: () => keys.list(),
    revokeKey: (id) => keys.revoke(id),
    async setKey(id, change) {
      const key = await keys.set(id, change);
      access.refresh(id);
      ctx.admission.retry();
      return key;
    },
    keyRole: (id) => keys.roleOf(id),
    keyStanding: ({ id, policy }) => ({
      running: access.gateOf(id)?.running ?? 0,
      expired: policy?.expiresAtMs !== undefined && ctx.clock.wall() >= policy.expiresAtMs,
    }),
  };
}
