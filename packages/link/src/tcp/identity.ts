import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { IopError } from '@iop/domain';
import type { Identity, LinkCrypto } from '../identity.ts';

/** DER of an Ed25519 SubjectPublicKeyInfo up to the 32 bytes of the key. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** The private halves; they leave this folder only as signatures and as the TLS key. */
const privateKeys = new WeakMap<Identity, KeyObject>();

/** A new Ed25519 identity as PKCS#8 PEM, to be kept in a file of mode 0600. */
export function createIdentityPem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** @throws IopError `invalid`, code `identity.unreadable`, for anything but an Ed25519 private key in PEM */
export function loadIdentity(pem: string): Identity {
  const key = readPrivateKey(pem);
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const identity: Identity = {
    publicKey: new Uint8Array(spki.subarray(spkiPrefix.length)),
    sign: (data) => sign(null, data, key),
  };
  privateKeys.set(identity, key);
  return identity;
}

export function privateKeyOf(identity: Identity): KeyObject {
  const key = privateKeys.get(identity);
  if (key !== undefined) return key;
  throw new IopError({
    kind: 'internal',
    code: 'identity.foreign',
    message: 'this identity was not made by loadIdentity, so it has no key for TLS',
  });
}

/** The pin of a public key in any form that Node gives it. */
export function pinOfKey(key: KeyObject): string {
  return pinOfSpki(key.export({ type: 'spki', format: 'der' }));
}

export const nodeCrypto: LinkCrypto = {
  sha256: (data) => createHash('sha256').update(data).digest(),
  randomBytes: (length) => randomBytes(length),
  verify: verifyEd25519,
  pinOf: (publicKey) => pinOfSpki(Buffer.concat([spkiPrefix, publicKey])),
};

function verifyEd25519(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    const der = Buffer.concat([spkiPrefix, publicKey]);
    return verify(null, data, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
  } catch {
    return false;
  }
}

function pinOfSpki(spki: Uint8Array): string {
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject | undefined;
  let cause: unknown;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    cause = error;
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new IopError({
    kind: 'invalid',
    code: 'identity.unreadable',
    message: `an identity must be an Ed25519 private key in PEM (PKCS#8); this is ${key?.asymmetricKeyType ?? 'unreadable'}`,
    cause,
  });
}
