/**
 * API keys, without their secrets. Reading is from memory; writes resolve when durable.
 *
 * Contract suite: `key-store.contract.ts`.
 */
export interface KeyStore {
  find(id: string): StoredKey | undefined;
  /** Oldest first. */
  list(): readonly StoredKey[];
  /** Adds a key, or replaces the one with the same id. */
  save(key: StoredKey): Promise<void>;
}

export interface StoredKey {
  id: string;
  /** For people. */
  name: string;
  /** SHA-256 of the secret, 64 hex digits. */
  secretHash: string;
  /** Milliseconds since 1970. */
  createdAtMs: number;
  revokedAtMs: number | undefined;
}
