import { isIP } from 'node:net';
import { IopError } from '@iop/domain';

/** `localhost`, 127.0.0.0/8 and ::1, also as IPv4 in IPv6. Names are not resolved: they can change. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '').replace(/^::ffff:/i, '');
  if (isIP(plain) === 4) return plain.startsWith('127.');
  return plain === '::1' || plain.toLowerCase() === 'localhost';
}

/** Plaintext never leaves the machine. */
export function assertPlaintextAllowed(host: string): void {
  if (isLoopback(host)) return;
  throw new IopError({
    kind: 'invalid',
    code: 'link.plaintext-refused',
    message: `plaintext (tls: false) is for loopback only, ${host} is not; use TLS: it needs no certificate authority, only the pin`,
    details: { host },
  });
}
