// What node-lost.test.ts and edge-lost.test.ts try with shortened times, once with the times that are the default.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chat, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

describe('with the default times', { timeout: 300_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene?.world.close());

  async function streaming() {
    const upstream = at(scene.upstreams, 0);
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(100_000).fill('x'), paceMs: 5 });
    const asking = chat(scene.edge, { stream: true });
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 3);
    return asking;
  }

  test('a Node that is killed after content: node.lost in the stream within 15 s', {
    timeout: 60_000,
  }, async () => {
    const asking = await streaming();
    const killedAt = performance.now();
    await at(scene.nodes, 0).program.kill();
    const reading = readStream((await asking.answer).text);
    const tookMs = performance.now() - killedAt;
    assert.equal(reading.error?.code, 'node.lost');
    assert.equal(reading.done, false);
    assert.ok(tookMs <= 15_500, `${tookMs} ms`);
    at(scene.nodes, 0).start();
    await scene.edge.nodesReady(['n1']);
  });

  test('an Edge that is killed: the Node closes its upstreams within 10 s', { timeout: 60_000 }, async () => {
    await streaming();
    const killedAt = performance.now();
    await scene.edge.program.kill();
    const upstream = at(scene.upstreams, 0);
    const tookMs = (await upstream.closed(at(upstream.requests, 0), 15_000)) - killedAt;
    assert.ok(tookMs <= 10_500, `${tookMs} ms`);
  });
});
