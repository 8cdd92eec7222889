/** An Ed25519 key pair. The private half stays inside the implementation (`@iop/link/tcp`). */
export interface Identity {
  /** Raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  sign(data: Uint8Array): Uint8Array;
}

/** What the pure part of the link needs of a crypto library. */
export interface LinkCrypto {
  sha256(data: Uint8Array): Uint8Array;
  randomBytes(length: number): Uint8Array;
  /** Ed25519; false for anything malformed. */
  verify(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean;
  /** "sha256:" + 64 hex digits, of the key's SubjectPublicKeyInfo in DER. */
  pinOf(publicKey: Uint8Array): string;
}
