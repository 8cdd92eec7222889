import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { openChaosProxy } from '../testing/chaos-proxy.ts';
import { newIdentity, until } from '../testing/link-host.ts';
import type { Dial, Transport } from '../transport.ts';
import { createCertificatePem } from './certificate.ts';
import {
  createIdentityPem,
  dialTcp,
  dialUnix,
  isLoopback,
  type Listener,
  listenTcp,
  listenUnix,
  loadIdentity,
  nodeCrypto,
} from './index.ts';

const never = new AbortController().signal;
const identity = newIdentity();
const pin = nodeCrypto.pinOf(identity.publicKey);

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'iop-tcp-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function listenTls(
  t: TestContext,
  change: object = {},
): Promise<{ listener: Listener; transports: Transport[] }> {
  const transports: Transport[] = [];
  const onTransport = (transport: Transport): void => void transports.push(transport);
  const listener = await listenTcp({
    host: '127.0.0.1',
    port: 0,
    tls: true,
    identity,
    onTransport,
    ...change,
  });
  t.after(() => {
    for (const transport of transports) transport.destroy();
    return listener.close();
  });
  return { listener, transports };
}

test('an identity is an Ed25519 key that signs what its pin stands for', () => {
  const loaded = loadIdentity(createIdentityPem());
  const data = Buffer.from('data');
  const signature = loaded.sign(data);
  assert.equal(nodeCrypto.verify(loaded.publicKey, data, signature), true);
  assert.equal(nodeCrypto.verify(loaded.publicKey, Buffer.from('date'), signature), false);
  assert.equal(nodeCrypto.verify(newIdentity().publicKey, data, signature), false);
  assert.equal(nodeCrypto.verify(new Uint8Array(31), data, signature), false);
  assert.equal(nodeCrypto.verify(new Uint8Array(32).fill(255), data, new Uint8Array(64)), false);
  assert.match(nodeCrypto.pinOf(loaded.publicKey), /^sha256:[0-9a-f]{64}$/);
});

test('anything but an Ed25519 private key is refused with words', () => {
  for (const pem of ['', 'secret', createCertificatePem(identity)]) {
    assert.throws(() => loadIdentity(pem), { code: 'identity.unreadable', message: /Ed25519/ });
  }
});

test('the certificate is one that others read, verifies with its own key and carries the identity', () => {
  const certificate = new X509Certificate(createCertificatePem(identity));
  assert.equal(certificate.verify(certificate.publicKey), true);
  assert.equal(certificate.subject, 'CN=iop');
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
  assert.deepEqual(spki.subarray(-32), Buffer.from(identity.publicKey));
});

test('plaintext is for loopback only, on both sides, and says why', async () => {
  const onTransport = (): void => {};
  await assert.rejects(listenTcp({ host: '0.0.0.0', port: 0, tls: false, identity, onTransport }), {
    code: 'link.plaintext-refused',
    message: /loopback/,
  });
  for (const host of ['192.168.1.5', 'example.org', '::', '0.0.0.0', '127.0.0.1.example.org']) {
    assert.throws(() => dialTcp({ host, port: 1, tls: false, pins: [pin] }), {
      code: 'link.plaintext-refused',
    });
  }
  for (const host of ['127.0.0.1', '127.8.8.8', 'localhost', '::1', '[::1]', '::ffff:127.0.0.1']) {
    assert.equal(isLoopback(host), true, host);
  }
});

test('TLS without a pin is refused before anything is dialed (L1)', () => {
  assert.throws(() => dialTcp({ host: 'edge', port: 7400, tls: true, pins: [] }), {
    code: 'identity.no-pins',
  });
});

test('with a wrong pin the connection ends before a byte is written over it (L1)', async (t) => {
  const { listener, transports } = await listenTls(t);
  const dial = dialTcp({ ...listener.address, tls: true, pins: [nodeCrypto.pinOf(newIdentity().publicKey)] });
  await assert.rejects(dial(never), { code: 'identity.pin-mismatch', kind: 'forbidden' });
  let received = 0;
  for (const transport of transports)
    transport.start({ onBytes: () => received++, onDrain: () => {}, onClosed: () => {} });
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(received, 0);
});

test('of several pins, current and next, one is enough', async (t) => {
  const { listener } = await listenTls(t);
  const pins = [nodeCrypto.pinOf(newIdentity().publicKey), pin];
  (await dialTcp({ ...listener.address, tls: true, pins })(never)).destroy();
});

test('older TLS is not spoken', async (t) => {
  const { listener } = await listenTls(t);
  const { host, port } = listener.address;
  const socket = connectTls({ host, port, maxVersion: 'TLSv1.2', rejectUnauthorized: false });
  const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
  assert.match(error.message, /protocol version|alert|disconnected/);
});

test('a refused, an unknown and a silent address are told apart, and no socket is left', async (t) => {
  const closed = createServer();
  const port = await listening(closed);
  await new Promise((resolve) => closed.close(resolve));
  await assert.rejects(dialTcp({ host: '127.0.0.1', port, tls: false, pins: [] })(never), {
    kind: 'unavailable',
    message: new RegExp(`127.0.0.1:${port}.*nobody listens.*ECONNREFUSED`),
  });
  await assert.rejects(dialTcp({ host: 'no-such-host.invalid', port: 1, tls: true, pins: [pin] })(never), {
    kind: 'unavailable',
  });
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  const silentPort = await listening(silent);
  t.after(() => silent.close());
  const options = { host: '127.0.0.1', port: silentPort, tls: true, pins: [pin], connectTimeoutMs: 50 };
  await assert.rejects(dialTcp(options)(never), { kind: 'timeout', code: 'link.dial-timeout' });
  await until(
    () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length === 0,
    'all sockets are gone',
  );
});

test('dialling stops at once when told to', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {}).resume());
  const port = await listening(silent);
  t.after(() => silent.close());
  const stop = new AbortController();
  const dialing = dialTcp({ host: '127.0.0.1', port, tls: true, pins: [pin] })(stop.signal);
  setImmediate(() => stop.abort());
  await assert.rejects(dialing, { kind: 'cancelled' });
  await assert.rejects(dialTcp({ host: '127.0.0.1', port, tls: true, pins: [pin] })(AbortSignal.abort()), {
    kind: 'cancelled',
  });
});

test('a peer that breaks TLS, or leaves in the middle, harms nobody and frees its place (F16)', async (t) => {
  const { listener, transports } = await listenTls(t, { tlsHandshakes: 3 });
  for (const bytes of ['GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01\xff\xff', '']) {
    for (let count = 0; count < 5; count++) {
      const socket = connect(listener.address);
      socket.on('error', () => {});
      socket.resume().end(bytes);
      await new Promise((resolve) => socket.once('close', resolve));
    }
  }
  const transport = await dialTcp({ ...listener.address, tls: true, pins: [pin] })(never);
  await until(() => transports.length === 1, 'the honest peer is in');
  transport.destroy();
});

test('a TLS handshake that is cut anywhere frees its place', { timeout: 60_000 }, async (t) => {
  const { listener } = await listenTls(t, { tlsHandshakes: 1 });
  const proxy = await openChaosProxy(listener.address);
  t.after(() => proxy.close());
  const dial = dialTcp({ ...proxy.address, tls: true, pins: [pin] });
  for (const direction of ['up', 'down'] as const) {
    for (let bytes = 0; bytes < 1400; bytes += 67) {
      proxy.knobs = { cutAfterBytes: { [direction]: bytes } };
      await dial(never).then(
        (transport) => transport.destroy(),
        () => {},
      );
      await tryUntilDialed(dialTcp({ ...listener.address, tls: true, pins: [pin] }));
    }
  }
});

/** A place is freed when the other end hears of the cut, which takes a moment. */
async function tryUntilDialed(dial: Dial): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      (await dial(never)).destroy();
      return;
    } catch (error) {
      if (tries === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

test('TLS handshakes beyond the limit are closed before they cost anything (L3)', async (t) => {
  const { listener } = await listenTls(t, { tlsHandshakes: 2 });
  const stalled = [connect(listener.address), connect(listener.address)];
  t.after(() => {
    for (const socket of stalled) socket.destroy();
  });
  await Promise.all(stalled.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  await assert.rejects(dialTcp({ ...listener.address, tls: true, pins: [pin] })(never), {
    kind: 'unavailable',
  });
  stalled[0]?.resume().destroy();
  await until(() => stalled[0]?.closed === true, 'a place is free');
  await tryUntilDialed(dialTcp({ ...listener.address, tls: true, pins: [pin] }));
});

test('an address in use is told with words', async (t) => {
  const { listener } = await listenTls(t);
  const { port } = listener.address;
  await assert.rejects(listenTcp({ host: '127.0.0.1', port, tls: true, identity, onTransport: () => {} }), {
    kind: 'conflict',
    message: /another program listens/,
  });
});

test('a Unix socket has mode 0600, and is gone after close', async (t) => {
  const path = join(scratch(t), 'x.sock');
  const before = process.umask();
  const listener = await listenUnix({ path, onTransport: (transport) => transport.destroy() });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(process.umask(), before);
  await listener.close();
  assert.equal(existsSync(path), false);
});

test('a socket file that a dead process left is replaced; a live one and a plain file are not', async (t) => {
  const path = join(scratch(t), 'x.sock');
  const live = await listenUnix({ path, onTransport: (transport) => transport.destroy() });
  await assert.rejects(listenUnix({ path, onTransport: () => {} }), {
    kind: 'conflict',
    message: /another program/,
  });
  await live.close();
  await leaveStaleSocket(path);
  const again = await listenUnix({ path, onTransport: (transport) => transport.destroy() });
  (await dialUnix({ path })(never)).destroy();
  await again.close();
  writeFileSync(path, 'data');
  await assert.rejects(listenUnix({ path, onTransport: () => {} }), {
    kind: 'conflict',
    message: /not a socket/,
  });
});

/** As after a kill: the file is there, nobody listens. */
async function leaveStaleSocket(path: string): Promise<void> {
  const { spawnSync } = await import('node:child_process');
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', program], { timeout: 10_000 });
  assert.equal(existsSync(path), true);
}

test('a path that is too long for a Unix socket is refused with words', async () => {
  await assert.rejects(listenUnix({ path: `/tmp/${'x'.repeat(120)}`, onTransport: () => {} }), {
    code: 'link.path-too-long',
  });
});
