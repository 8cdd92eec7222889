import { createCertificatePem } from '../tcp/certificate.ts';
import { createIdentityPem, loadIdentity } from '../tcp/identity.ts';

/** A self-signed certificate and its key, in PEM. */
export interface TestCertificate {
  cert: string;
  key: string;
}

export function createTestCertificate(): TestCertificate {
  const key = createIdentityPem();
  return { cert: createCertificatePem(loadIdentity(key)), key };
}
