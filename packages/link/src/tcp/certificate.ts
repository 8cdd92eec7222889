import { createPublicKey, sign } from 'node:crypto';
import type { Identity } from '../identity.ts';
import { privateKeyOf } from './identity.ts';

/**
 * A self-signed certificate around the identity key, in DER as RFC 5280 has it. TLS wants one; peers look
 * only at its key, so it is made anew at every start and its dates never matter.
 *
 * Written out, because a library for it (@peculiar/x509) costs 22 MB of memory, 0.2–0.5 s of start and a global
 * polyfill, for these fifty lines.
 */
export function createCertificatePem(identity: Identity): string {
  const key = privateKeyOf(identity);
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    ed25519,
    commonName('iop'),
    sequence(generalizedTime('20200101000000Z'), generalizedTime('99991231235959Z')),
    commonName('iop'),
    spki,
  );
  const signature = tagged(0x03, Buffer.concat([Buffer.of(0), sign(null, body, key)]));
  return toPem(sequence(body, ed25519, signature));
}

/** AlgorithmIdentifier 1.3.101.112. */
const ed25519 = sequence(tagged(0x06, Buffer.of(0x2b, 0x65, 0x70)));
/** 2.5.4.3 */
const commonNameId = tagged(0x06, Buffer.of(0x55, 0x04, 0x03));

function commonName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(commonNameId, tagged(0x0c, Buffer.from(name)))));
}

function generalizedTime(text: string): Buffer {
  return tagged(0x18, Buffer.from(text));
}

function integer(value: number): Buffer {
  return tagged(0x02, Buffer.of(value));
}

function sequence(...parts: Uint8Array[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function tagged(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

function lengthOf(size: number): Buffer {
  if (size < 0x80) return Buffer.of(size);
  return size < 0x100 ? Buffer.of(0x81, size) : Buffer.of(0x82, size >> 8, size & 0xff);
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
