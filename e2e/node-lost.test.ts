// A Node dies, freezes or comes back while it works. Before content another Node answers; after content the
// caller is told that the answer is cut, soon and in the stream. Times are shortened; their defaults are
// tried in node-lost.fault.test.ts.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { chat, contentOf, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import type { Call } from './harness/http.ts';
import { at, openScene, type Scene } from './harness/scene.ts';

const limit = { timeout: 60_000 };
const limits = { lost_after: '2s', orphan_after: '1500ms', redispatch_after: '300ms', heartbeat: '500ms' };
const forever = Array(10_000).fill('x') as string[];

describe('a Node that is lost while it works', { timeout: 300_000 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene({ nodes: ['n1', 'n2'], limits });
  });
  after(() => scene?.world.close());
  beforeEach(async () => {
    for (const node of scene.nodes) if (!node.program.running) node.start();
    await scene.edge.nodesReady(['n1', 'n2']);
    for (const upstream of scene.upstreams) upstream.forget();
  });

  /** Which of the two Nodes got the call that is under way. */
  const busyNode = (): Promise<number> =>
    eventually('a Node works', 5_000, () => {
      const index = scene.upstreams.findIndex((upstream) => upstream.open() > 0);
      return index < 0 ? undefined : index;
    });

  for (const stream of [true, false]) {
    test(
      `killed before content${stream ? ' of a stream' : ''}: the other Node answers within a second`,
      limit,
      async () => {
        for (const upstream of scene.upstreams) upstream.act({ kind: 'hang' });
        const asking = chat(scene.edge, { stream });
        const victim = await busyNode();
        const other = at(scene.upstreams, 1 - victim);
        other.act(stream ? { kind: 'stream', chunks: ['saved'] } : { kind: 'json', content: 'saved' });
        const killedAt = performance.now();
        await at(scene.nodes, victim).program.kill();
        const seen = await other.arrival(0);
        assert.ok(seen.arrivedAt - killedAt < 1_000, `${seen.arrivedAt - killedAt} ms`);
        const answer = await asking.answer;
        assert.equal(answer.status, 200);
        assert.equal(stream ? readStream(answer.text).content : contentOf(answer.text), 'saved');
        const run = at(await scene.edge.runs(), 0);
        assert.equal(run.attempts, 2);
        assert.equal(run.end?.kind, 'completed');
      },
    );
  }

  async function streaming(): Promise<{ asking: Call; victim: number }> {
    for (const upstream of scene.upstreams) upstream.act({ kind: 'stream', chunks: forever, paceMs: 5 });
    const asking = chat(scene.edge, { stream: true });
    const victim = await busyNode();
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 3);
    return { asking, victim };
  }

  async function endsAsNodeLost(asking: Call, withinMs: number) {
    const startedAt = performance.now();
    const reading = readStream((await asking.answer).text);
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < withinMs, `${tookMs} ms`);
    assert.equal(reading.error?.code, 'node.lost');
    assert.equal(reading.done, false);
    assert.equal(reading.finish, undefined);
    assert.deepEqual(at(await scene.edge.runs(), 0).end, { kind: 'failed', code: 'node.lost' });
  }

  test('killed after content: the stream ends with node.lost, and nobody tries again', limit, async () => {
    const { asking, victim } = await streaming();
    await at(scene.nodes, victim).program.kill();
    await endsAsNodeLost(asking, 4_000);
    assert.equal(at(scene.upstreams, 1 - victim).requests.length, 0);
  });

  test('restarted after content: its run is lost as soon as the new process is there', limit, async () => {
    const { asking, victim } = await streaming();
    const node = at(scene.nodes, victim);
    await node.program.kill();
    node.start();
    await endsAsNodeLost(asking, 4_000);
  });

  test('stopped by SIGTERM: its run ends with a reason, its upstream is closed', limit, async () => {
    const { asking, victim } = await streaming();
    await at(scene.nodes, victim).program.stop();
    const reading = readStream((await asking.answer).text);
    assert.equal(reading.done, false);
    assert.equal(reading.finish, undefined);
    assert.ok(reading.error);
    assert.equal(at(scene.upstreams, victim).open(), 0);
  });

  test(
    'F4: frozen, its link half-open: declared dead by three missed pings, its run lost',
    limit,
    async () => {
      const { asking, victim } = await streaming();
      at(scene.nodes, victim).program.signal('SIGSTOP');
      await endsAsNodeLost(asking, 8_000);
      at(scene.nodes, victim).program.signal('SIGCONT');
      await scene.edge.nodesReady(['n1', 'n2']);
      await eventually('the stale run is stopped', 5_000, () => at(scene.upstreams, victim).open() === 0);
    },
  );

  test('F4: frozen before content: the other Node answers, and the thawed one is fenced', limit, async () => {
    for (const upstream of scene.upstreams) upstream.act({ kind: 'hang' });
    const asking = chat(scene.edge, { stream: true });
    const victim = await busyNode();
    at(scene.upstreams, 1 - victim).act({ kind: 'stream', chunks: ['saved'] });
    at(scene.nodes, victim).program.signal('SIGSTOP');
    assert.equal(readStream((await asking.answer).text).content, 'saved');
    at(scene.nodes, victim).program.signal('SIGCONT');
    await eventually('the fenced attempt is stopped', 10_000, () => at(scene.upstreams, victim).open() === 0);
    assert.equal(at(scene.upstreams, victim).requests.length, 1);
  });
});
