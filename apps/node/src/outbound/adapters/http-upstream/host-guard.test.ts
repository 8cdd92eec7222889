import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canonicalHost, createHostGuard, mayResolve } from './host-guard.ts';

describe('host guard', () => {
  const guard = createHostGuard(['127.0.0.1', 'localhost', '::1', 'GPU.lan']);

  for (const host of [
    '127.0.0.1',
    'LOCALHOST',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    'gpu.lan',
    '2130706433',
    '0x7f.1',
  ]) {
    it(`allows ${host}`, () => assert.equal(guard.allows(host), true));
  }

  for (const host of [
    '127.0.0.2',
    '169.254.169.254',
    'example.com',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    'localhost.evil',
    '',
  ]) {
    it(`does not allow ${JSON.stringify(host)}`, () => assert.equal(guard.allows(host), false));
  }

  it('writes a host in one way', () => {
    assert.equal(canonicalHost('[::FFFF:7f00:1]'), '::ffff:7f00:1');
    assert.equal(canonicalHost('017700000001'), '127.0.0.1');
  });

  it('lets no allowed name resolve to a metadata service, nor localhost away from this machine', () => {
    const allowed = new Set(['gpu.lan', 'localhost', '10.0.0.5']);
    const to = (name: string, address: string, family = 4) => mayResolve(name, { address, family }, allowed);
    assert.equal(to('gpu.lan', '192.168.1.7'), true);
    assert.equal(to('gpu.lan', '169.254.169.254'), false);
    assert.equal(to('gpu.lan', '::', 6), false);
    assert.equal(to('gpu.lan', '64:ff9b::a9fe:a9fe', 6), false);
    assert.equal(to('gpu.lan', '2002:a9fe:a9fe::1', 6), false);
    assert.equal(to('gpu.lan', '100.100.100.200'), false);
    assert.equal(to('gpu.lan', '127.0.0.1'), false);
    assert.equal(to('gpu.lan', '::1', 6), false);
    assert.equal(to('gpu.lan', '::ffff:127.0.0.1', 6), false);
    assert.equal(to('gpu.lan', '2001:db8::7', 6), true);
    assert.equal(to('gpu.lan', '::ffff:169.254.169.254', 6), false);
    assert.equal(to('gpu.lan', 'fe80::1', 6), false);
    assert.equal(to('localhost', '127.0.0.1'), true);
    assert.equal(to('localhost', '::1', 6), true);
    assert.equal(to('localhost', '192.168.1.7'), false);
    assert.equal(to('localhost', '10.0.0.5'), true);
  });
});
