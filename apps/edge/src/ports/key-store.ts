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
  /** undefined: nothing limits it. */
  policy: KeyPolicy | undefined;
}

/** What a key may do. */
export interface KeyPolicy {
  /** Public names, `adapter/name`, with `*` for any text; empty: every target. */
  targets: readonly string[];
  /** Runs that hold a place at once; 0: no limit. */
  concurrency: number;
  rate: KeyRate | undefined;
  /** Milliseconds since 1970; undefined: never. */
  expiresAtMs: number | undefined;
  /** Default: caller. */
  role?: KeyRole;
}

/** caller: the doors under /v1; operator: the management API too, but for changing keys; admin: all of it. */
export const keyRoles = ['caller', 'operator', 'admin'] as const;
export type KeyRole = (typeof keyRoles)[number];

/** So many runs in a stretch of time; `burst` of them may come at once. */
export interface KeyRate {
  runs: number;
  perMs: number;
  burst: number;
}
