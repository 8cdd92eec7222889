import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryKeyStore, createPlainSecrets } from '../testing/memory-stores.ts';
import { createKeyBook } from './key-book.ts';

function setUp() {
  const store = createMemoryKeyStore();
  return { store, keys: createKeyBook({ store, secrets: createPlainSecrets(), wall: () => 5 }) };
}

test('a created key is valid, and its secret is kept nowhere', async () => {
  const { store, keys } = setUp();
  const { key, secret } = await keys.create('laptop');
  assert.deepEqual(keys.check(secret), { kind: 'valid', keyId: key.id });
  assert.match(secret, /^iop_[a-z2-7]{8}_[A-Za-z0-9_-]{43}$/);
  assert.equal(JSON.stringify(store.list()).includes(secret), false);
});

test('missing, malformed, unknown and wrong keys are told apart from valid ones', async () => {
  const { keys } = setUp();
  const { secret } = await keys.create('laptop');
  assert.deepEqual(keys.check(undefined), { kind: 'missing' });
  assert.deepEqual(keys.check(''), { kind: 'missing' });
  for (const wrong of ['sk-123', `${secret}x`, secret.slice(0, -1), `${secret.slice(0, -1)}X`, 'iop__']) {
    assert.deepEqual(keys.check(wrong), { kind: 'unknown' }, wrong);
  }
});

test('a revoked key is refused from the moment of the revocation, also before it is durable', async () => {
  const { store, keys } = setUp();
  const { key, secret } = await keys.create('laptop');
  const slow = Promise.withResolvers<void>();
  store.save = () => slow.promise;
  const revoked = keys.revoke(key.id);
  assert.deepEqual(keys.check(secret), { kind: 'revoked', keyId: key.id });
  slow.resolve();
  assert.equal((await revoked)?.revokedAtMs, 5);
});

test('revoking what is unknown says so; a name of a novel is refused', async () => {
  const { keys } = setUp();
  assert.equal(await keys.revoke('nokey'), undefined);
  await assert.rejects(keys.create('x'.repeat(129)), { code: 'key.name-too-long' });
});
