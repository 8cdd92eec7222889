import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { createClientOf, isNetwork } from './client.ts';

function ask(trusted: readonly string[], remoteAddress: string, headers: Record<string, string> = {}) {
  const req = { socket: { remoteAddress }, headers: { host: 'edge', ...headers } };
  return createClientOf(trusted)(req as unknown as IncomingMessage);
}

test('what a stranger says about itself does not count', () => {
  const client = ask(['10.0.0.0/8'], '192.0.2.7', {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'localhost',
  });
  assert.deepEqual(client, { address: '192.0.2.7', isLocal: false, hosts: ['edge'] });
});

test('a trusted proxy is believed, the chain is read from its end', () => {
  const proxies = ['10.0.0.0/8', 'fd00::/8', '::1'];
  const address = (peer: string, chain: string) => ask(proxies, peer, { 'x-forwarded-for': chain }).address;
  assert.equal(address('10.1.2.3', '192.0.2.7'), '192.0.2.7');
  assert.equal(address('::ffff:10.1.2.3', '192.0.2.7:4711'), '192.0.2.7');
  assert.equal(address('fd00::1', '[2001:db8::7]:4711'), '2001:db8::7');
  assert.equal(address('::1', '127.0.0.1, 192.0.2.7, 10.9.9.9'), '192.0.2.7', 'only the end is trusted');
  assert.equal(address('10.1.2.3', '10.0.0.1, 10.0.0.2'), '10.0.0.1', 'a caller inside');
  assert.equal(
    address('10.1.2.3', '192.0.2.7, unknown'),
    '10.1.2.3',
    'behind what nobody can read is nobody',
  );
  assert.equal(address('10.1.2.3', ','), '10.1.2.3');
  assert.equal(address('10.1.2.3', `192.0.2.7${', 10.0.0.1'.repeat(40)}`), '10.0.0.1', 'an endless chain');
});

test('local is whoever is on this machine with nobody behind it', () => {
  const isLocal = (trusted: string[], peer: string, headers = {}) => ask(trusted, peer, headers).isLocal;
  assert.equal(isLocal([], '127.0.0.1'), true);
  assert.equal(isLocal([], '::ffff:127.0.0.1'), true);
  assert.equal(isLocal([], '127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }), false);
  assert.equal(isLocal([], '127.0.0.1', { forwarded: 'for=127.0.0.1' }), false);
  assert.equal(isLocal(['127.0.0.1'], '127.0.0.1'), true);
  assert.equal(isLocal(['127.0.0.1'], '127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }), false);
  assert.equal(isLocal(['127.0.0.1'], '127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }), true);
  assert.equal(isLocal(['127.0.0.1'], '127.0.0.1', { forwarded: 'for=127.0.0.1' }), false);
});

test('hosts are what the caller and the proxies say', () => {
  const headers = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-host': 'a.example, b.example' };
  assert.deepEqual(ask(['10.0.0.1'], '10.0.0.1', headers).hosts, ['edge', 'a.example', 'b.example']);
});

test('networks are addresses, with or without a length', () => {
  for (const good of ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0'])
    assert.ok(isNetwork(good), good);
  for (const bad of ['', 'proxy', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0.0/8/8', '10.0.0.0/-1'])
    assert.ok(!isNetwork(bad), bad);
});
