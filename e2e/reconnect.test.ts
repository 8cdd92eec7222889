// F2: whatever stands where the Edge should be, a Node goes on trying, and works as soon as the Edge is there.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosProxy } from './harness/chaos-proxy.ts';
import { chat } from './harness/chat.ts';
import type { Edge } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import { connectionsOf } from './harness/network-space.ts';
import type { Node } from './harness/node.ts';
import { openWorld, type World } from './harness/world.ts';

describe('F2: a Node that cannot reach its Edge', { timeout: 300_000 }, () => {
  let world: World;
  let edge: Edge;
  let proxy: ChaosProxy;
  let node: Node;
  before(async () => {
    world = openWorld();
    edge = await world.edge({ limits: { heartbeat: '500ms' } });
    proxy = await world.proxy(edge.wirePort);
    proxy.setMode('refuse');
    node = await world.node(edge, { name: 'n1', port: proxy.port, ready: false });
  });
  after(() => world?.close());

  test('keeps trying while it is refused, and is there when it no longer is', {
    timeout: 40_000,
  }, async () => {
    await eventually('four attempts', 20_000, () => proxy.attempts.length >= 4);
    proxy.setMode('pass');
    await edge.nodesReady(['n1']);
    assert.equal((await chat(edge, { model: 'echo' }).answer).status, 200);
  });

  test('notices a path that swallows everything, and comes back when it heals', {
    timeout: 60_000,
  }, async () => {
    proxy.setMode('blackhole');
    await node.program.line(/silent/, 10_000);
    await sleep(500);
    assert.ok(connectionsOf(node.program.pid, proxy.port) <= 1, 'dead sockets are left open');
    proxy.setMode('pass');
    proxy.cutAll();
    await edge.nodesReady(['n1']);
  });
});
