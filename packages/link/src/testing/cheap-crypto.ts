import type { Identity, LinkCrypto } from '../identity.ts';

/** Proves nothing and costs nothing: for tests that shake hands thousands of times and look at something else. */
export const cheapCrypto: LinkCrypto = {
  sha256: () => new Uint8Array(32),
  randomBytes: (length) => new Uint8Array(length).fill(7),
  verify: () => true,
  pinOf: () => 'sha256:cheap',
};

export const cheapIdentity: Identity = {
  publicKey: new Uint8Array(32),
  sign: () => new Uint8Array(64),
};
