// Who may join, and whom a Node believes: pins, tokens, keys, clones, revocation.
import assert from 'node:assert/strict';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat, contentOf, readStream } from './harness/chat.ts';
import type { Edge } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import { createNode } from './harness/node.ts';
import { openWorld, type World } from './harness/world.ts';
import { startImpostor } from './peers/impostor.ts';

const limit = { timeout: 60_000 };
const wrongPin = `sha256:${'ab'.repeat(32)}`;

for (const tls of [true, false]) {
  describe(`identity over a ${tls ? 'TLS' : 'plaintext'} link`, { timeout: 300_000 }, () => {
    let world: World;
    let edge: Edge;
    before(async () => {
      world = openWorld();
      edge = await world.edge({ wire: { tls } });
      await world.node(edge, { name: 'known' });
    });
    after(() => world?.close());

    const stateOf = async (name: string) => {
      const operator = await edge.operator();
      const nodes = await operator.listNodes();
      operator.close();
      return nodes.find((node) => node.name === name)?.state;
    };

    test(
      'a Node whose pin is another one tells an impostor nothing and says what it saw',
      limit,
      async () => {
        const impostor = await startImpostor(tls);
        world.defer(() => impostor.close());
        const node = await world.node(edge, { name: 'careful', port: impostor.port, ready: false });
        await node.program.line(/no link to the edge/, 10_000);
        await sleep(1_500); // it dials again, and again says nothing
        assert.deepEqual(impostor.tokens, []);
        assert.deepEqual(impostor.victims, []);
        await node.program.line(/pinned is/, 1_000);
        assert.equal(await stateOf('careful'), undefined);
      },
    );

    test('a Node with a wrong pin for the real Edge does not join', limit, async () => {
      const node = await world.node(edge, { name: 'mistaken', pins: [wrongPin], ready: false });
      await node.program.line(/pinned is/, 10_000);
      assert.equal(await stateOf('mistaken'), undefined);
    });

    test('a Node that has two pins, one of them right, joins: a key can be rotated', limit, async () => {
      await world.node(edge, { name: 'rotating', pins: [wrongPin, edge.pin] });
    });

    test('an unknown Node without the right token is refused', limit, async () => {
      const tokenFile = join(world.dir, `wrong-${tls}.token`);
      writeFileSync(tokenFile, 'not-the-token\n', { mode: 0o600 });
      const node = await world.node(edge, { name: 'stranger', tokenFile, ready: false });
      await node.program.line(/identity\.token-wrong/, 10_000);
      assert.equal(await stateOf('stranger'), undefined);
    });

    test('a known name with another key is refused, its token notwithstanding', limit, async () => {
      const first = await world.node(edge, { name: 'taken' });
      await first.program.stop();
      rmSync(join(first.stateDir, 'identity.key'));
      first.start();
      await first.program.line(/identity\.key-mismatch/, 10_000);
      await edge.program.line(/identity\.key-mismatch/, 5_000);
      assert.equal(await stateOf('taken'), 'away');
    });

    test('a clone of a live Node is refused; the live one works on; both sides are told', limit, async () => {
      const clone = createNode(join(world.dir, `clone-${tls}`), edge, { name: 'known' });
      cpSync(join(world.dir, 'node-known', 'identity.key'), join(clone.stateDir, 'identity.key'));
      world.defer(async () => void (await clone.program.stop()));
      const work = chat(edge, { model: 'echo', prompt: 'still here', stream: true });
      clone.start();
      await clone.program.line(/identity\.clone/, 10_000);
      await edge.program.line(/identity\.clone/, 5_000);
      assert.match(readStream((await work.answer).text).content, /still here/);
      assert.equal(await stateOf('known'), 'ready');
    });

    test(
      'a Node that comes back is known by its key alone: its token is not needed any more',
      limit,
      async () => {
        const tokenFile = join(world.dir, `once-${tls}.token`);
        cpSync(edge.nodeTokenFile, tokenFile);
        const node = await world.node(edge, { name: 'back', tokenFile });
        await node.program.stop();
        writeFileSync(tokenFile, 'used-up\n', { mode: 0o600 });
        node.start();
        await edge.nodesReady(['back']);
      },
    );
  });
}

describe('an Edge whose store is away', { timeout: 300_000 }, () => {
  let world: World;
  let edge: Edge;
  before(async () => {
    world = openWorld();
    edge = await world.edge();
    await world.node(edge, { name: 'n1' });
  });
  after(() => world?.close());

  test('never calls a good key wrong: it answers, or it says 503', limit, async () => {
    assert.equal(contentOf((await chat(edge, { model: 'echo', prompt: 'before' }).answer).text), 'before');
    breakStore(edge);
    for (let i = 0; i < 20; i++) {
      const answer = await chat(edge, { model: 'echo', prompt: 'after' }).answer;
      assert.ok([200, 503].includes(answer.status), `${answer.status} ${answer.text}`);
      await sleep(50);
    }
  });

  test('refuses to start on a broken store instead of beginning anew', limit, async () => {
    await edge.program.kill();
    breakStore(edge);
    await assert.rejects(edge.start());
    assert.match(edge.program.lines.join('\n'), /state\.db/);
    assert.notEqual((await edge.program.exited).code, 0);
  });
});

/** Overwrites the database with what is none. */
function breakStore(edge: Edge): void {
  for (const file of ['state.db', 'state.db-wal']) {
    writeFileSync(join(edge.stateDir, file), 'this is not a database\n'.repeat(2_000));
  }
}

test(
  'a key made by an operator works until it is revoked, and stays revoked over a restart',
  limit,
  async () => {
    const world = openWorld();
    try {
      const edge = await world.edge();
      await world.node(edge, { name: 'n1' });
      const operator = await edge.operator();
      const secret = await operator.createKey('short-lived');
      const ask = async () =>
        (await chat(edge, { model: 'echo', headers: { authorization: `Bearer ${secret}` } }).answer).status;
      assert.equal(await ask(), 200);
      await operator.revokeKey(secret.split('_')[1] ?? '');
      operator.close();
      assert.equal(await ask(), 401);
      await edge.program.stop();
      await edge.start();
      await eventually(
        'the Node is back',
        15_000,
        async () => (await chat(edge, { model: 'echo' }).answer).status === 200,
      );
      assert.equal(await ask(), 401);
    } finally {
      await world.close();
    }
  },
);
