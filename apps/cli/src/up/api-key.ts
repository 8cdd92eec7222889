import { existsSync } from 'node:fs';
import type { OperatorClient } from '@iop/client';
import { readSecretFile, writeSecretFile } from '@iop/shell';

/** The key of the start before, as long as the Edge still knows it and nobody revoked it; else a new one. */
export async function keepApiKey(client: OperatorClient, file: string): Promise<string> {
  const kept = existsSync(file) ? readSecretFile(file) : undefined;
  if (kept !== undefined && (await isValid(client, kept))) return kept;
  const { secret } = await client.createKey('iop up');
  writeSecretFile(file, `${secret}\n`);
  return secret;
}

/** `iop_<id>_<secret>` */
async function isValid(client: OperatorClient, secret: string): Promise<boolean> {
  const id = secret.split('_')[1];
  const keys = await client.listKeys();
  return keys.some((key) => key.id === id && !key.revoked);
}
