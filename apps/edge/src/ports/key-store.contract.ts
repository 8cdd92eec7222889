import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyStore, StoredKey } from './key-store.ts';

export interface KeyStoreHarness extends AsyncDisposable {
  keys: KeyStore;
}

export function keyOf(over: Partial<StoredKey> = {}): StoredKey {
  const secretHash = 'ab'.repeat(32);
  return {
    id: 'aaaaaaaa',
    name: 'laptop',
    secretHash,
    createdAtMs: 5,
    revokedAtMs: undefined,
    policy: undefined,
    ...over,
  };
}

/** What every `KeyStore` keeps. */
export function keyStoreContract(name: string, setUp: () => Promise<KeyStoreHarness>): void {
  describe(`key store: ${name}`, () => {
    test('a saved key is found by id and listed, oldest first', async () => {
      await using harness = await setUp();
      const { keys } = harness;
      assert.equal(keys.find('aaaaaaaa'), undefined);
      await keys.save(keyOf());
      await keys.save(keyOf({ id: 'bbbbbbbb', createdAtMs: 9 }));
      assert.deepEqual(keys.find('aaaaaaaa'), keyOf());
      assert.deepEqual(
        keys.list().map((key) => key.id),
        ['aaaaaaaa', 'bbbbbbbb'],
      );
    });

    test('a policy comes back as it was saved, in each of its parts', async () => {
      await using harness = await setUp();
      const { keys } = harness;
      const rate = { runs: 60, perMs: 60_000, burst: 10 };
      const policy = { targets: ['gpu/*', 'qwen'], concurrency: 4, rate, expiresAtMs: 99 };
      const open = { targets: [], concurrency: 0, rate: undefined, expiresAtMs: undefined };
      await keys.save(keyOf({ policy }));
      await keys.save(keyOf({ id: 'bbbbbbbb', policy: open }));
      assert.deepEqual(keys.find('aaaaaaaa')?.policy, policy);
      assert.deepEqual(keys.find('bbbbbbbb')?.policy, open);
    });

    test('saving a key again replaces it', async () => {
      await using harness = await setUp();
      const { keys } = harness;
      await keys.save(keyOf());
      await keys.save(keyOf({ revokedAtMs: 8 }));
      assert.equal(keys.find('aaaaaaaa')?.revokedAtMs, 8);
      assert.equal(keys.list().length, 1);
    });
  });
}
