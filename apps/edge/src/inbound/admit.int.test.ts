import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptOutcome } from '@iop/link';
import { nodeCrypto } from '@iop/link/tcp';
import { codeOf } from '../testing/edge-fixture.ts';
import { createWireWorld, nodeToken, until } from '../testing/wire-world.ts';

const limit = { timeout: 60_000 };

function said(outcome: AttemptOutcome): string {
  return outcome.kind === 'rejected' ? outcome.code : outcome.kind;
}

test('a Node enrols with the token once; from then on only its key counts', limit, async () => {
  await using world = await createWireWorld();
  const node = world.node('a');
  assert.equal(said(await node.link()), 'linked');
  node.cut();
  const sameKey = world.node('a', { identity: node.identity, token: '' });
  await until('the Edge has seen it go', () => world.edge.listNodes()[0]?.state === 'away');
  assert.equal(said(await sameKey.link()), 'linked');
  const otherKey = world.node('a', { token: nodeToken });
  assert.equal(said(await otherKey.link()), 'identity.key-mismatch');
  assert.match(world.lines.join(''), /identity\.key-mismatch/);
});

test('without the token, or with a wrong one, an unknown Node stays out', limit, async () => {
  await using world = await createWireWorld();
  assert.equal(said(await world.node('a', { token: '' }).link()), 'identity.unknown');
  assert.equal(said(await world.node('b', { token: 'guess' }).link()), 'identity.token-wrong');
  assert.deepEqual(world.edge.listNodes(), []);
});

test('E11: epochs grow from link to link and over restarts of the Edge', limit, async () => {
  await using world = await createWireWorld();
  const node = world.node('a');
  const epochs: number[] = [];
  const linkAgain = async () => {
    const outcome = await node.link();
    epochs.push(outcome.kind === 'linked' ? outcome.welcome.epoch : 0);
    node.cut();
  };
  await linkAgain();
  await linkAgain();
  await world.restart();
  await linkAgain();
  assert.deepEqual(epochs, [1, 2, 3]);
  const forgetful = world.node('a', { identity: node.identity });
  const outcome = await forgetful.link();
  assert.equal(outcome.kind === 'linked' && outcome.welcome.epoch, 4, 'a Node that forgot its epoch');
});

test(
  'E12: another process with the same key is refused while the first one lives, and both are named',
  limit,
  async () => {
    await using world = await createWireWorld();
    const first = await world.readyNode('a');
    const clone = world.node('a', { identity: first.identity });
    assert.equal(said(await clone.link()), 'identity.clone');
    assert.equal(world.edge.listNodes()[0]?.state, 'ready');
    const line = world.lines.find((each) => each.includes('identity.clone')) ?? '';
    assert.match(line, /already linked from 127\.0\.0\.1:\d+ by another process/);
    assert.match(line, /"address":"127\.0\.0\.1:\d+"/);
  },
);

test('E12: the same process that comes back fences its older link; its runs go on', limit, async () => {
  await using world = await createWireWorld();
  const instance = nodeCrypto.randomBytes(16);
  const old = await world.readyNode('a', { instance });
  const again = world.node('a', { identity: old.identity, instance });
  assert.equal(said(await again.link()), 'linked');
  await until('the old link is cut', () => old.closed !== undefined);
  await until('the new one is ready', () => world.edge.listNodes()[0]?.state === 'ready');
  assert.equal(world.edge.listNodes()[0]?.epoch, 2);
});

test(
  'E15: what was under way when the Edge was killed is edge.restarted, and its Node drops it',
  limit,
  async () => {
    await using world = await createWireWorld();
    const node = await world.readyNode('a');
    const { id } = world.start();
    await until('the Node has it', () => node.runs.length === 1);
    await world.edge.listRuns({ limit: 1, states: ['completed'], before: undefined });
    await world.restart();
    const [record] = await world.edge.listRuns({ limit: 1, states: [], before: undefined });
    assert.equal(record?.runId, id);
    assert.equal(codeOf(record?.end), 'edge.restarted');
    await node.link();
    await until('the Node has dropped it', () => node.runs.length === 0);
  },
);

test('a fleet is told its size and pings more rarely the larger it is', limit, async () => {
  await using world = await createWireWorld();
  const outcome = await world.node('a').link();
  assert.equal(outcome.kind === 'linked' && outcome.welcome.heartbeatIntervalMs, 10_000);
});
