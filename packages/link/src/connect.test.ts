import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorKind, IopError } from '@iop/domain';
import { Role } from '@iop/wire';
import { connectLink } from './connect.ts';
import type { Admission } from './link.ts';
import { nodeCrypto } from './tcp/identity.ts';
import {
  createTestAcceptor,
  newIdentity,
  type TestAcceptor,
  testDial,
  testHello,
  until,
} from './testing/link-host.ts';
import { createManualClock, settle } from './testing/manual-clock.ts';
import { createMemoryDuplex } from './testing/memory-duplex.ts';
import type { Dial } from './transport.ts';

const never = new AbortController().signal;

function open(kind: 'memory' | 'unix' = 'memory'): { host: TestAcceptor; dial: Dial } {
  const host = createTestAcceptor();
  const dial: Dial = async () => {
    const duplex = createMemoryDuplex({ kind });
    host.acceptor.accept(duplex.acceptor);
    return duplex.dialer;
  };
  return { host, dial };
}

test('an operator links once, asks, and leaves', async () => {
  const { host, dial } = open();
  const hello = testHello({ role: Role.OPERATOR, name: 'operator' });
  const { link, welcome } = await connectLink(
    testDial({ dial, pins: [host.pin], hello: () => hello }),
    never,
  );
  assert.equal(welcome.epoch, 1);
  link.close('done');
  assert.equal((await host.links[0]?.closed)?.kind, 'goodbye');
});

test('over a Unix socket no pin is needed, elsewhere an empty list of pins trusts nobody (L1)', async () => {
  const local = open('unix');
  const { link } = await connectLink(testDial({ dial: local.dial, pins: [] }), never);
  link.destroy('done');
  const remote = open();
  await assert.rejects(connectLink(testDial({ dial: remote.dial, pins: [] }), never), {
    code: 'identity.pin-mismatch',
  });
});

const rejections: [string, ErrorKind][] = [
  ['identity.key-mismatch', 'forbidden'],
  ['identity.token-wrong', 'unauthenticated'],
  ['identity.clone', 'conflict'],
  ['link.busy', 'exhausted'],
  ['a.code.of.the.future', 'unavailable'],
];

for (const [code, kind] of rejections) {
  test(`a Reject with ${code} is an error of kind ${kind} that repeats what the server said`, async () => {
    const { host, dial } = open();
    host.decide = (): Admission => ({ kind: 'reject', code, message: 'said', retryAfterMs: 5 });
    await assert.rejects(connectLink(testDial({ dial, pins: [host.pin] }), never), {
      name: 'IopError',
      kind,
      code,
      message: /said/,
      details: { retryAfterMs: 5 },
    });
  });
}

test('an error of dialling comes out as it is', async () => {
  const error = new IopError({
    kind: 'unavailable',
    code: 'link.dial-failed',
    message: 'nobody listens there',
  });
  const dial: Dial = () => Promise.reject(error);
  await assert.rejects(connectLink(testDial({ dial, pins: ['x'] }), never), (thrown) => thrown === error);
});

test('a server that is silent is left after the time for a handshake, with no timer and no transport (L12)', async () => {
  const clock = createManualClock();
  const duplex = createMemoryDuplex();
  const linking = connectLink(
    testDial({ dial: async () => duplex.dialer, pins: ['x'], clock, handshakeTimeoutMs: 700 }),
    never,
  );
  await settle();
  clock.advance(700);
  await assert.rejects(linking, { kind: 'timeout', code: 'link.handshake-timeout' });
  assert.equal(clock.pending, 0);
  assert.equal(duplex.dialer.write([]), false);
});

test('stopped by its signal it says so and leaves no transport', async () => {
  const duplex = createMemoryDuplex();
  const stop = new AbortController();
  const linking = connectLink(testDial({ dial: async () => duplex.dialer, pins: ['x'] }), stop.signal);
  setImmediate(() => stop.abort());
  await assert.rejects(linking, { kind: 'cancelled' });
  assert.equal(duplex.dialer.write([]), false);
});

test('the token is read only after the pin was compared, and once', async () => {
  const { host, dial } = open();
  const order: string[] = [];
  const crypto = {
    ...nodeCrypto,
    pinOf: (key: Uint8Array) => {
      order.push('pin');
      return nodeCrypto.pinOf(key);
    },
  };
  const token = (): string => {
    order.push('token');
    return 'secret';
  };
  const options = testDial({ dial, pins: [host.pin], crypto, token, identity: newIdentity() });
  const { link } = await connectLink(options, never);
  link.destroy('done');
  assert.equal(order.filter((step) => step === 'token').length, 1);
  assert.ok(order.indexOf('pin') < order.indexOf('token'));
  await until(() => host.links[0]?.outcome !== undefined, 'the link is gone');
});

test('a token that cannot be read ends the attempt with its own error, and nothing else', async () => {
  const { host, dial } = open();
  const token = (): string => {
    throw new IopError({ kind: 'invalid', code: 'config.invalid', message: 'token_file: no such file' });
  };
  await assert.rejects(connectLink(testDial({ dial, pins: [host.pin], token }), never), {
    code: 'config.invalid',
    message: /no such file/,
  });
  await until(() => host.rejections.length === 1, 'the server saw it leave');
  assert.equal(host.admitted.length, 0);
});
