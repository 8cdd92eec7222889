/**
 * Keys and epochs of those who may link to this Edge. Reading is from memory; a write has resolved only
 * when it is durable (it survives a power cut), and rejects with an `unavailable` IopError otherwise.
 *
 * Contract suite: `identity-store.contract.ts`.
 */
export interface IdentityStore {
  find(role: IdentityRole, name: string): StoredIdentity | undefined;
  /**
   * Stores the key (the first time) and the epoch. `find` sees it at once, so that two links of one name
   * never get the same epoch; the epoch of a name never decreases.
   */
  save(identity: StoredIdentity): Promise<void>;
  /** Every name of that role. */
  names(role: IdentityRole): readonly string[];
}

export type IdentityRole = 'node' | 'agent' | 'edge';

export interface StoredIdentity {
  role: IdentityRole;
  name: string;
  /** Raw Ed25519 public key, 32 bytes. */
  publicKey: Uint8Array;
  /** Of its last link. */
  epoch: number;
}
