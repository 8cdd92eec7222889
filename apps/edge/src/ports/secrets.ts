/** What core needs of a crypto library. */
export interface Secrets {
  /** SHA-256 of the text's UTF-8 bytes, as 64 hex digits. */
  hash(text: string): string;
  /** A new secret: 32 random bytes in base64url. */
  newSecret(): string;
  /** A new key id: 8 characters of base 32. */
  newKeyId(): string;
}
