// The Edge dies under work: the Node stops what nobody can read any more, and the next Edge's record says how it ended.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chat, contentOf, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const limit = { timeout: 60_000 };

describe('an Edge that is killed while a run streams', { timeout: 300_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene({ limits: { orphan_after: '2s' } });
  });
  after(() => scene?.world.close());

  test('leaves no upstream open, ends the record as edge.restarted, and works again', limit, async () => {
    const upstream = at(scene.upstreams, 0);
    upstream.act({ kind: 'stream', chunks: Array(10_000).fill('x'), paceMs: 5 });
    const asking = chat(scene.edge, { stream: true });
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 3);
    // Records of attached runs are written behind, at the latest 50 ms later.
    const runId = await eventually(
      'the run is on record',
      2_000,
      async () => (await scene.edge.runs())[0]?.runId,
    );
    await eventually('more content', 5_000, () => readStream(asking.text).content.length > 60);

    const killedAt = performance.now();
    await scene.edge.program.kill();
    await assert.rejects(asking.answer);
    const tookMs = (await upstream.closed(at(upstream.requests, 0), 10_000)) - killedAt;
    assert.ok(tookMs < 5_000, `the upstream was closed after ${tookMs} ms`);

    await scene.edge.start();
    await scene.edge.nodesReady(['n1']);
    assert.deepEqual((await scene.edge.runEnded(runId)).end, { kind: 'failed', code: 'edge.restarted' });
    upstream.act({ kind: 'json', content: 'again' });
    assert.equal(contentOf((await chat(scene.edge).answer).text), 'again');
  });

  test('and restarted at once: the Node comes back and drops the run that nobody knows', limit, async () => {
    const upstream = at(scene.upstreams, 0);
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(10_000).fill('x'), paceMs: 5 });
    const asking = chat(scene.edge, { stream: true });
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 3);
    await scene.edge.program.kill();
    await scene.edge.start();
    await upstream.closed(at(upstream.requests, 0), 10_000);
    await scene.edge.nodesReady(['n1']);
  });

  test('stopped by SIGTERM, ends its streams with a reason, not as if they were whole', limit, async () => {
    const upstream = at(scene.upstreams, 0);
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(10_000).fill('x'), paceMs: 5 });
    const asking = chat(scene.edge, { stream: true });
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 3);
    const exit = await scene.edge.program.stop();
    assert.equal(exit.code, 0);
    const reading = readStream(asking.text);
    assert.equal(reading.done, false);
    assert.equal(reading.finish, undefined);
    await upstream.closed(at(upstream.requests, 0), 10_000);
  });
});
