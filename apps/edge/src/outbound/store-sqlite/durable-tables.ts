import type { DatabaseSync } from 'node:sqlite';
import type { IdentityRole, StoredIdentity } from '../../ports/identity-store.ts';
import type { KeyPolicy, StoredKey } from '../../ports/key-store.ts';
import type { ConfigRevision, DurableWrite } from './messages.ts';

/** Identities, keys and revisions: few, small, and never lost once they were acknowledged. */
export interface DurableTables {
  write(write: DurableWrite): void;
  identities(): StoredIdentity[];
  keys(): StoredKey[];
  newestRevision(): ConfigRevision | undefined;
}

export function createDurableTables(db: DatabaseSync): DurableTables {
  const identity = db.prepare(`
    INSERT INTO identities (role, name, public_key, epoch) VALUES (?, ?, ?, ?)
    ON CONFLICT (role, name) DO UPDATE SET
      public_key = excluded.public_key, epoch = max(epoch, excluded.epoch)`);
  const key = db.prepare(
    'INSERT OR REPLACE INTO api_keys (id, name, secret_hash, created_at, revoked_at, policy_json) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const revision = db.prepare('INSERT INTO config_revisions (revision, hash, loaded_at) VALUES (?, ?, ?)');

  return {
    write(write) {
      if (write.kind === 'identity') {
        const { role, name, publicKey, epoch } = write.identity;
        identity.run(role, name, publicKey, epoch);
      } else if (write.kind === 'key') {
        const { id, name, secretHash, createdAtMs, revokedAtMs, policy } = write.key;
        const policyJson = policy === undefined ? null : JSON.stringify(policy);
        key.run(id, name, secretHash, createdAtMs, revokedAtMs ?? null, policyJson);
      } else {
        revision.run(write.revision.revision, write.revision.hash, write.revision.loadedAtMs);
      }
    },
    identities: () => db.prepare('SELECT * FROM identities').all().map(fromIdentityRow),
    keys: () => db.prepare('SELECT * FROM api_keys ORDER BY created_at, id').all().map(fromKeyRow),
    newestRevision() {
      const row = db.prepare('SELECT * FROM config_revisions ORDER BY revision DESC LIMIT 1').get();
      if (row === undefined) return undefined;
      return {
        revision: Number(row.revision),
        hash: String(row.hash),
        loadedAtMs: Number(row.loaded_at),
      };
    },
  };
}

function fromIdentityRow(row: Record<string, unknown>): StoredIdentity {
  return {
    role: String(row.role) as IdentityRole,
    name: String(row.name),
    publicKey: row.public_key as Uint8Array,
    epoch: Number(row.epoch),
  };
}

function fromKeyRow(row: Record<string, unknown>): StoredKey {
  return {
    id: String(row.id),
    name: String(row.name),
    secretHash: String(row.secret_hash),
    createdAtMs: Number(row.created_at),
    revokedAtMs: row.revoked_at === null ? undefined : Number(row.revoked_at),
    policy: typeof row.policy_json === 'string' ? toPolicy(row.policy_json) : undefined,
  };
}

/** JSON has no `undefined`: what is missing comes back as that. */
function toPolicy(json: string): KeyPolicy {
  const { targets, concurrency, rate, expiresAtMs, role } = JSON.parse(json) as KeyPolicy;
  return { targets, concurrency, rate, expiresAtMs, ...(role !== undefined && { role }) };
}
