// F4: a link whose segments vanish, while both ends still call it established: iptables DROP between two network
// namespaces. With the default heartbeat both sides must notice within three pings, close their sockets for
// good, end the run, and find each other again when it heals.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chat, contentOf, readStream } from './harness/chat.ts';
import type { Edge } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import {
  connectionsOf,
  type NetworkSpace,
  noNetworkSpace,
  openNetworkSpace,
} from './harness/network-space.ts';
import type { Node } from './harness/node.ts';
import { at } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';
import { openWorld, type World } from './harness/world.ts';

const skip = noNetworkSpace();
/** Three pings of 10 s and a little. */
const deadWithinMs = 35_000;

describe('F4: a half-open link', { timeout: 240_000, ...(skip !== undefined && { skip }) }, () => {
  let space: NetworkSpace;
  let world: World;
  let edge: Edge;
  let node: Node;
  let upstream: Upstream;
  before(async () => {
    space = openNetworkSpace();
    world = openWorld();
    world.defer(() => space.close());
    upstream = await world.upstream({ host: space.hostAddress });
    edge = await world.edge({
      adapters: [{ name: 'vllm', kind: 'vllm', nodes: ['n1'], base_url: upstream.baseUrl }],
      wire: { host: space.hostAddress },
    });
    const allow = { hosts: [space.hostAddress] };
    node = await world.node(edge, { name: 'n1', prefix: space.prefix, allow });
  });
  after(() => world?.close());

  const open = (what: { program: { pid: number } }) => connectionsOf(what.program.pid, edge.wirePort);

  async function bothNotice() {
    const startedAt = performance.now();
    await eventually('the Edge has closed its socket', deadWithinMs, () => open(edge) === 0);
    await eventually('the Node has closed its socket', deadWithinMs, () => nodeGaveUpFirst());
    assert.ok(performance.now() - startedAt < deadWithinMs);
  }

  /** The Node dials again, so it may hold a new socket: what counts is that it said the old one is dead. */
  const nodeGaveUpFirst = () => node.program.lines.some((line) => /silent/.test(line));

  async function healed() {
    space.heal();
    await edge.nodesReady(['n1']);
    upstream.act({ kind: 'json', content: 'healed' });
    assert.equal(contentOf((await chat(edge).answer).text), 'healed');
  }

  test('that is idle is declared dead by both sides, and heals', { timeout: 110_000 }, async () => {
    assert.equal(open(edge), 1);
    space.dropPort(edge.wirePort);
    await bothNotice();
    await healed();
  });

  test('with data in flight ends the run, and heals', { timeout: 110_000 }, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(100_000).fill('x'), paceMs: 5 });
    const asking = chat(edge, { stream: true });
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 3);
    space.dropPort(edge.wirePort);
    await eventually('the Edge has closed its socket', deadWithinMs, () => open(edge) === 0);
    await eventually('the Node has closed its upstream', 50_000, () => upstream.open() === 0);
    const reading = readStream((await asking.answer).text);
    assert.equal(reading.error?.code, 'node.lost');
    assert.equal(reading.done, false);
    assert.equal(at(await edge.runs(), 0).end?.kind, 'failed');
    await healed();
  });
});
