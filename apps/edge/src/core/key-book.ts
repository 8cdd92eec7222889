import { IopError } from '@iop/domain';
import type { KeyPolicy, KeyRole, KeyStore, StoredKey } from '../ports/key-store.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { KeyCheck } from './door.ts';
import { checkPolicy, isUnlimited } from './key-policy.ts';

/** API keys: `iop_<id>_<secret>`. Only hashes of secrets are kept. */
export interface KeyBook {
  check(presented: string | undefined): KeyCheck;
  /** `secret` is shown this once. Resolves when durable. */
  create(name: string, policy?: KeyPolicy): Promise<{ key: StoredKey; secret: string }>;
  list(): readonly StoredKey[];
  /** undefined: no such key, or it is in force no more. */
  roleOf(id: string): KeyRole | undefined;
  /** undefined: no such key. Takes effect before it resolves. */
  revoke(id: string): Promise<StoredKey | undefined>;
  /** undefined: no such key. In force when it resolves, durably. @throws IopError `key.revoked` */
  set(id: string, change: KeyChange): Promise<StoredKey | undefined>;
}

export interface KeyChange {
  /** undefined: as it is. */
  name: string | undefined;
  policy: KeyPolicy | undefined;
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
  // one change after the other: a change of a policy must not undo a revocation
  let changing: Promise<void> = Promise.resolve();

  function standingOf({ id, revokedAtMs, policy }: StoredKey): KeyCheck {
    if (revokedAtMs !== undefined || revoking.has(id)) return { kind: 'revoked', keyId: id };
    const expiresAtMs = policy?.expiresAtMs;
    if (expiresAtMs !== undefined && wall() >= expiresAtMs)
      return { kind: 'expired', keyId: id, expiresAtMs };
    return { kind: 'valid', keyId: id };
  }

  async function applyChange(id: string, { name, policy }: KeyChange): Promise<StoredKey | undefined> {
    const key = store.find(id);
    if (key === undefined) return undefined;
    if (key.revokedAtMs !== undefined || revoking.has(id)) throw isRevoked(id);
    const changed = { ...key, name: name ?? key.name, policy: kept(policy) };
    await store.save(changed);
    return changed;
  }

  return {
    check(presented) {
      if (presented === undefined || presented === '') return { kind: 'missing' };
      const match = keyPattern.exec(presented);
      const key = match?.[1] === undefined ? undefined : store.find(match[1]);
      if (key === undefined || match?.[2] === undefined) return { kind: 'unknown' };
      if (!isEqual(secrets.hash(match[2]), key.secretHash)) return { kind: 'unknown' };
      return standingOf(key);
    },
    async create(name, policy) {
      assertName(name);
      checkPolicy(policy);
      const secret = secrets.newSecret();
      const id = freeId(store, secrets);
      const secretHash = secrets.hash(secret);
      const dates = { createdAtMs: wall(), revokedAtMs: undefined };
      const key: StoredKey = { id, name, secretHash, ...dates, policy: kept(policy) };
      await store.save(key);
      return { key, secret: `iop_${id}_${secret}` };
    },
    list: () => store.list(),
    roleOf(id) {
      const key = store.find(id);
      if (key === undefined || standingOf(key).kind !== 'valid') return undefined;
      return key.policy?.role ?? 'caller';
    },
    async revoke(id) {
      const key = store.find(id);
      if (key === undefined || key.revokedAtMs !== undefined) return key;
      revoking.add(id);
      await changing;
      const revoked = { ...(store.find(id) ?? key), revokedAtMs: wall() };
      await store.save(revoked);
      revoking.delete(id);
      return revoked;
    },
    async set(id, change) {
      if (change.name !== undefined) assertName(change.name);
      checkPolicy(change.policy);
      const done = changing.then(() => applyChange(id, change));
      changing = done.then(nothing, nothing);
      return await done;
    },
  };
}

const nothing = () => {};

function kept(policy: KeyPolicy | undefined): KeyPolicy | undefined {
  return policy === undefined || isUnlimited(policy) ? undefined : policy;
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

function assertName({ length }: string): void {
  if (length <= longestName) return;
  const message = `the name of a key may have ${longestName} characters, not ${length}; choose a shorter one`;
  throw new IopError({ kind: 'invalid', code: 'key.name-too-long', message });
}

function isRevoked(id: string): IopError {
  const message = `the key ${id} was revoked and stays so; \`iop keys create\` makes a new one`;
  return new IopError({ kind: 'conflict', code: 'key.revoked', message });
}
