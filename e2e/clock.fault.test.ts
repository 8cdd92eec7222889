// F21: wall clocks that are two hours off, and that jump while runs are under way, of the Edge and of the Node. Links,
// deadlines, leases and keys go by clocks that do not jump, or by days.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ChaosProxy } from './harness/chaos-proxy.ts';
import { chat, readStream } from './harness/chat.ts';
import type { Edge } from './harness/edge.ts';
import { eventually } from './harness/eventually.ts';
import { createFakeClock, type FakeClock, noFakeClock } from './harness/fake-clock.ts';
import { type Call, call } from './harness/http.ts';
import type { Node } from './harness/node.ts';
import { openClient } from './harness/operator.ts';
import type { Program } from './harness/program.ts';
import type { Upstream } from './harness/upstream.ts';
import { openWorld, type World } from './harness/world.ts';

const limit = { timeout: 90_000 };
const detached = { 'x-iop-on-disconnect': 'continue' };
const words = Array.from({ length: 150 }, (_, index) => `w${index}.`);
const skews = ['+2h', '-2h'];
const offsetsMs: Record<string, number> = { '+2h': 7_200_000, '-2h': -7_200_000 };

describe('F21: clocks', { timeout: 600_000, ...(noFakeClock !== undefined && { skip: noFakeClock }) }, () => {
  let world: World;
  let edge: Edge;
  let node: Node;
  let proxy: ChaosProxy;
  let upstream: Upstream;
  let clocks: Record<'edge' | 'node', FakeClock>;
  before(async () => {
    world = openWorld();
    clocks = { edge: createFakeClock(world.dir, 'edge'), node: createFakeClock(world.dir, 'node') };
    upstream = await world.upstream();
    edge = await world.edge({
      adapters: [{ name: 'vllm', kind: 'vllm', nodes: ['n1'], base_url: upstream.baseUrl }],
      models: [{ name: 'm', adapter: 'vllm', target: 'm' }],
      limits: { heartbeat: '1s' },
      env: clocks.edge.env,
    });
    proxy = await world.proxy(edge.wirePort);
    node = await world.node(edge, { name: 'n1', port: proxy.port, env: clocks.node.env });
  });
  after(() => world?.close());
  beforeEach(async () => {
    proxy.setMode('pass');
    for (const clock of [clocks.edge, clocks.node]) await clock.set('+0');
    await edge.nodesReady(['n1']);
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: words, paceMs: 40 });
  });

  async function underWay(headers: Record<string, string> = {}): Promise<{ asking: Call; runId: string }> {
    const asking = chat(edge, { stream: true, headers });
    await eventually('content', 5_000, () => readStream(asking.text).content.length > 8);
    return { asking, runId: String((await asking.head).headers['x-iop-run']) };
  }

  // ids sort by the wall clock, so the newest need not be the first
  const recordOf = async (runId: string) => (await edge.runs()).find((run) => run.runId === runId);

  /** It goes by the clock that it was given: by the time of what it last had to say. */
  function isOffBy(offset: string, { lines }: Program): void {
    const said = lines.findLast((line) => line.startsWith('{')) ?? '{}';
    const offMs = Date.parse((JSON.parse(said) as { time: string }).time) - Date.now();
    assert.ok(Math.abs(offMs - (offsetsMs[offset] ?? 0)) < 60_000, `${offset}: it is off by ${offMs} ms`);
  }

  async function edgeIsOffBy(offset: string): Promise<void> {
    const { headers } = await call({ url: `${edge.url}/healthz` }).answer;
    const offMs = Date.parse(headers.date ?? '') - Date.now();
    assert.ok(
      Math.abs(offMs - (offsetsMs[offset] ?? 0)) < 60_000,
      `${offset}: the Edge is off by ${offMs} ms`,
    );
  }

  /** Whole, of one attempt, and its link was never believed to be down. */
  async function endsUndisturbed({ asking, runId }: { asking: Call; runId: string }) {
    const reading = readStream((await asking.answer).text);
    assert.equal(reading.content, words.join(''));
    assert.equal(reading.done, true);
    const client = await openClient(edge);
    const { run, changes } = await client.whyRun(runId).finally(() => client.close());
    assert.deepEqual([run.end?.kind, run.attempts, changes], ['completed', 1, []]);
  }

  for (const who of ['edge', 'node'] as const) {
    for (const skew of skews) {
      test(`the ${who} is off by ${skew}: it links, and runs end whole`, limit, async () => {
        await clocks[who].set(skew);
        if (who === 'edge') await edge.program.kill();
        else await node.program.kill();
        if (who === 'edge') await edge.start();
        else node.start();
        await edge.nodesReady(['n1']);
        const runs = [await underWay(), await underWay(detached)];
        for (const run of runs) await endsUndisturbed(run);
        isOffBy(skew, who === 'edge' ? edge.program : node.program);
      });

      test(
        `the clock of the ${who} jumps by ${skew} under runs, and back: nobody notices`,
        limit,
        async () => {
          const links = node.program.lines.length;
          for (const offset of [skew, '+0']) {
            const runs = [await underWay(), await underWay(detached)];
            await clocks[who].set(offset);
            for (const run of runs) await endsUndisturbed(run);
            isOffBy(offset, who === 'edge' ? edge.program : node.program);
          }
          assert.ok(
            !node.program.lines.slice(links).some((line) => /silent|link .*(lost|down|closed)/i.test(line)),
          );
        },
      );
    }
  }

  for (const skew of skews) {
    test(`a jump by ${skew} neither ends a lease nor prolongs it`, limit, async () => {
      const { asking, runId } = await underWay(detached);
      proxy.setMode('refuse');
      await eventually('the link is down', 5_000, async () => (await recordOf(runId))?.state === 'unknown');
      await clocks.edge.set(skew);
      await edgeIsOffBy(skew);
      assert.equal((await recordOf(runId))?.state, 'unknown', 'ten minutes are not over');
      proxy.setMode('pass');
      assert.equal(readStream((await asking.answer).text).content, words.join(''));
      assert.equal((await edge.runEnded(runId)).attempts, 1);
    });

    test(`a jump by ${skew} does not move a deadline`, limit, async () => {
      upstream.act({ kind: 'stream', chunks: Array(2_000).fill('x'), paceMs: 20 });
      const client = await openClient(edge);
      const body = Buffer.from(
        JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] }),
      );
      const order = { adapter: 'vllm', target: 'm', dialect: 'openai.chat', body, stream: true };
      const startedAt = performance.now();
      const { runId } = await client.startDetached({ ...order, deadlineMs: 6_000 });
      client.close();
      await upstream.arrival(0);
      await clocks.edge.set(skew);
      await edgeIsOffBy(skew);
      assert.equal((await recordOf(runId))?.end, undefined, 'it is not over yet');
      const { end } = await edge.runEnded(runId, 10_000);
      assert.deepEqual(end, { kind: 'cancelled', by: 'deadline' });
      const tookMs = performance.now() - startedAt;
      assert.ok(tookMs >= 5_900 && tookMs < 9_000, `${tookMs} ms`);
    });

    test(`a jump by ${skew} forgets no idempotency key and no run`, limit, async () => {
      upstream.act({ kind: 'json', content: 'once' });
      const headers = { ...detached, 'idempotency-key': `jump ${skew}`.replace(' ', '-') };
      const first = await chat(edge, { headers }).answer;
      await clocks.edge.set(skew);
      await edgeIsOffBy(skew);
      const again = await chat(edge, { headers }).answer;
      assert.equal(again.headers['x-iop-run'], first.headers['x-iop-run']);
      assert.equal(again.text, first.text);
      assert.equal((await chat(edge, { headers, prompt: 'another' }).answer).status, 409);
      assert.equal(upstream.requests.length, 1);
    });
  }

  test('after a day by the wall clock a key may be used again, as it is documented', limit, async () => {
    upstream.act({ kind: 'json', content: 'daily' });
    const headers = { ...detached, 'idempotency-key': 'daily' };
    const first = await chat(edge, { headers }).answer;
    await clocks.edge.set('+25h');
    const second = await chat(edge, { headers }).answer;
    assert.notEqual(second.headers['x-iop-run'], first.headers['x-iop-run']);
    assert.equal(second.status, 200);
  });
});
