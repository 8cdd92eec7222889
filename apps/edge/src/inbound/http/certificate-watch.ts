import { unwatchFile, watchFile } from 'node:fs';
import type { Server as TlsServer } from 'node:tls';
import { toIopError } from '@iop/domain';
import type { Log } from '@iop/shell';
import { type CertificateFiles, readCertificate } from './certificate.ts';

export interface CertificateWatchDeps {
  server: Pick<TlsServer, 'setSecureContext'>;
  files: CertificateFiles;
  log: Log;
  intervalMs: number;
}

/**
 * New connections get the certificate that lies there now; open ones go on with theirs. A pair that
 * does not fit, perhaps because only one half of it is new yet, changes nothing. Returns how to stop.
 */
export function watchCertificate({ server, files, log, intervalMs }: CertificateWatchDeps): () => void {
  const { certFile, keyFile } = files;
  function reload(): void {
    try {
      const { options, validTo } = readCertificate(files);
      server.setSecureContext(options);
      log.info({ certFile, validTo: validTo.toISOString() }, 'the certificate of the HTTP port is new');
    } catch (reason) {
      const { message } = toIopError(reason);
      log.warn({ certFile, reason: message }, 'the new certificate is refused; the old one stays in force');
    }
  }
  // polled: tools replace files and links to them, and not every file system tells of it
  const names = [certFile, keyFile];
  for (const name of names) watchFile(name, { interval: intervalMs, persistent: false }, reload);
  return () => {
    for (const name of names) unwatchFile(name, reload);
  };
}
