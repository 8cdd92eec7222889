import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Clock } from '@iop/domain';
import { create, ListNodesResponseSchema, NodeInfoSchema } from '@iop/wire';
import { connectOperator, type OperatorAddress } from './connect-operator.ts';
import { type FakeReply, startFakeEdge } from './testing/fake-edge.ts';

const dir = mkdtempSync(join(tmpdir(), 'iop-client-'));
after(() => rmSync(dir, { recursive: true }));

const clock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  soon: (callback) => process.nextTick(callback),
  atTurnEnd: (callback) => void setImmediate(callback),
};
const signal = AbortSignal.timeout(20_000);
const limit = { timeout: 20_000 };

const connect = (address: OperatorAddress) =>
  connectOperator({ address, name: 'iop', build: 'test', clock }, signal);
const oneNode = (reply: FakeReply): void =>
  reply.answer({
    case: 'listNodes',
    value: create(ListNodesResponseSchema, { nodes: [create(NodeInfoSchema, { name: 'n1' })] }),
  });

test('an operator asks over the local socket without a token', limit, async () => {
  const path = join(dir, 'operator.sock');
  const edge = await startFakeEdge({
    socketPath: path,
    clock,
    onRequest: (_request, reply) => oneNode(reply),
  });
  try {
    using client = await connect({ kind: 'unix', path });
    assert.equal(client.edge, 'fake');
    assert.equal((await client.listNodes()).length, 1);
  } finally {
    await edge.close();
  }
});

test('an operator asks over TCP with pin and token', limit, async () => {
  const edge = await startFakeEdge({ token: 'right', clock, onRequest: (_request, reply) => oneNode(reply) });
  const address = {
    kind: 'tcp',
    host: '127.0.0.1',
    port: edge.port,
    tls: true,
    pins: [edge.pin],
    token: () => 'right',
  } as const;
  try {
    using client = await connect(address);
    assert.equal((await client.listNodes()).length, 1);
    await assert.rejects(connect({ ...address, token: () => 'wrong' }), {
      kind: 'unauthenticated',
      code: 'identity.token-wrong',
    });
  } finally {
    await edge.close();
  }
});

test('a wrong pin is refused, and the token is not even read', limit, async () => {
  const edge = await startFakeEdge({ token: 'right', clock, onRequest: () => {} });
  const address = {
    kind: 'tcp',
    host: '127.0.0.1',
    port: edge.port,
    tls: true,
    pins: [`sha256:${'0'.repeat(64)}`],
    token: () => assert.fail('the token was read'),
  } as const;
  try {
    await assert.rejects(connect(address), { kind: 'forbidden' });
  } finally {
    await edge.close();
  }
});

test('a link that is cut fails what was asked', limit, async () => {
  const path = join(dir, 'cut.sock');
  const edge = await startFakeEdge({ socketPath: path, clock, onRequest: (_request, reply) => reply.cut() });
  try {
    using client = await connect({ kind: 'unix', path });
    await assert.rejects(client.listNodes(), { kind: 'unavailable', code: 'operator.link-lost' });
  } finally {
    await edge.close();
  }
});

test('an Edge that is not there is unavailable, in words', limit, async () => {
  await assert.rejects(connect({ kind: 'unix', path: join(dir, 'none.sock') }), {
    kind: 'unavailable',
    message: /none\.sock: there is no such socket/,
  });
});
