import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { IopError } from '@iop/domain';

/** PEM files: the certificate with its chain, and its key. */
export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

export interface Certificate {
  options: SecureContextOptions;
  validTo: Date;
}

/** @throws IopError `config.invalid` when the files cannot be read or do not belong together */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Certificate {
  const cert = readPem('http.tls.cert', certFile);
  const key = readPem('http.tls.key', keyFile);
  const options: SecureContextOptions = { cert, key, minVersion: 'TLSv1.2' };
  try {
    createSecureContext(options);
    return { options, validTo: new X509Certificate(cert).validToDate };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(
      `http.tls: ${certFile} and ${keyFile} are no certificate and its key: ${reason}; both are PEM`,
      cause,
    );
  }
}

function readPem(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(`${name}: cannot read ${file}: ${reason}`, cause);
  }
}

function invalid(message: string, cause: unknown): IopError {
  return new IopError({ kind: 'invalid', code: 'config.invalid', message, cause });
}
