import { hash, randomBytes } from 'node:crypto';
import type { Secrets } from '../ports/secrets.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

export function createSecrets(): Secrets {
  return {
    hash: (text) => hash('sha256', text, 'hex'),
    newSecret: () => randomBytes(32).toString('base64url'),
    newKeyId: () => Array.from(randomBytes(8), (byte) => alphabet[byte % 32]).join(''),
  };
}
