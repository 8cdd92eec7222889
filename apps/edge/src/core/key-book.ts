import { IopError } from '@iop/domain';
import type { KeyStore, StoredKey } from '../ports/key-store.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { KeyCheck } from './door.ts';

/** API keys: `iop_<id>_<secret>`. Only hashes of secrets are kept. */
export interface KeyBook {
  check(presented: string | undefined): KeyCheck;
  /** `secret` is shown this once. Resolves when durable. */
  create(name: string): Promise<{ key: StoredKey; secret: string }>;
  list(): readonly StoredKey[];
  /** undefined: no such key. Takes effect before it resolves. */
  revoke(id: string): Promise<StoredKey | undefined>;
}

export interface KeyBookDeps {
  store: KeyStore;
  secrets: Secrets;
  /** Milliseconds since 1970. */
  wall(): number;
}

const keyPattern = /^iop_([a-z2-7]{8})_([A-Za-z0-9_-]{43})$/;
const longestName = 128;

export function createKeyBook({ store, secrets, wall }: KeyBookDeps): KeyBook {
  // a revocation counts from the moment it was asked for, also while the disk is slow
  const revoking = new Set<string>();

  return {
    check(presented) {
      if (presented === undefined || presented === '') return { kind: 'missing' };
      const match = keyPattern.exec(presented);
      const key = match?.[1] === undefined ? undefined : store.find(match[1]);
      if (key === undefined || match?.[2] === undefined) return { kind: 'unknown' };
      if (!isEqual(secrets.hash(match[2]), key.secretHash)) return { kind: 'unknown' };
      const isRevoked = key.revokedAtMs !== undefined || revoking.has(key.id);
      return isRevoked ? { kind: 'revoked', keyId: key.id } : { kind: 'valid', keyId: key.id };
    },
    async create(name) {
      if (name.length > longestName) throw nameTooLong(name.length);
      const secret = secrets.newSecret();
      const id = freeId(store, secrets);
      const secretHash = secrets.hash(secret);
      const key: StoredKey = { id, name, secretHash, createdAtMs: wall(), revokedAtMs: undefined };
      await store.save(key);
      return { key, secret: `iop_${id}_${secret}` };
    },
    list: () => store.list(),
    async revoke(id) {
      const key = store.find(id);
      if (key === undefined || key.revokedAtMs !== undefined) return key;
      revoking.add(id);
      const revoked = { ...key, revokedAtMs: wall() };
      await store.save(revoked);
      revoking.delete(id);
      return revoked;
    },
  };
}

function freeId(store: KeyStore, secrets: Secrets): string {
  for (;;) {
    const id = secrets.newKeyId();
    if (store.find(id) === undefined) return id;
  }
}

/** In constant time for equal lengths: hashes always have the same. */
function isEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

function nameTooLong(length: number): IopError {
  const message = `the name of a key may have ${longestName} characters, not ${length}; choose a shorter one`;
  return new IopError({ kind: 'invalid', code: 'key.name-too-long', message });
}
