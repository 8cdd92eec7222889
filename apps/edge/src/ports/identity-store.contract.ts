import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IdentityStore, StoredIdentity } from './identity-store.ts';

export interface IdentityStoreHarness extends AsyncDisposable {
  identities: IdentityStore;
}

export function identityOf(over: Partial<StoredIdentity> = {}): StoredIdentity {
  return { role: 'node', name: 'gpu-1', publicKey: new Uint8Array(32).fill(7), epoch: 1, ...over };
}

/** What every `IdentityStore` keeps. */
export function identityStoreContract(name: string, setUp: () => Promise<IdentityStoreHarness>): void {
  describe(`identity store: ${name}`, () => {
    test('a saved identity is found by role and name', async () => {
      await using harness = await setUp();
      const { identities } = harness;
      assert.equal(identities.find('node', 'gpu-1'), undefined);
      await identities.save(identityOf());
      const found = identities.find('node', 'gpu-1');
      assert.deepEqual([...(found?.publicKey ?? [])], [...identityOf().publicKey]);
      assert.equal(found?.epoch, 1);
      assert.equal(identities.find('agent', 'gpu-1'), undefined);
      assert.deepEqual(identities.names('node'), ['gpu-1']);
      assert.deepEqual(identities.names('agent'), []);
    });

    test('an epoch is seen before it is durable and never goes back', async () => {
      await using harness = await setUp();
      const { identities } = harness;
      const saved = identities.save(identityOf({ epoch: 9 }));
      assert.equal(identities.find('node', 'gpu-1')?.epoch, 9);
      await saved;
      await identities.save(identityOf({ epoch: 4 }));
      assert.equal(identities.find('node', 'gpu-1')?.epoch, 9);
    });

    test('many saves at once all resolve', async () => {
      await using harness = await setUp();
      const { identities } = harness;
      const names = Array.from({ length: 300 }, (_, i) => `node-${i}`);
      await Promise.all(names.map((each) => identities.save(identityOf({ name: each }))));
      assert.equal(identities.names('node').length, 300);
    });
  });
}
