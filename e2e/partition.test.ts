// F6, F7: a Node behind a path that swallows everything, for less and for more than `lost_after`, and then it heals.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import type { Call } from './harness/http.ts';
import { iop } from './harness/iop.ts';
import { openClient } from './harness/operator.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { UpstreamAct } from './harness/upstream-act.ts';

const limit = { timeout: 60_000 };
/** A link is dead after three of them. */
const heartbeatMs = 500;
const detached = { 'x-iop-on-disconnect': 'continue' };

const words = Array.from({ length: 150 }, (_, index) => `w${index} `);
const story: UpstreamAct = { kind: 'stream', chunks: words, paceMs: 20 };

const partition = (scene: Scene, index: number) => at(scene.proxies, index).setMode('blackhole');

/** What was swallowed does not come any more, so the connections of before are worth nothing. */
function heal(scene: Scene, index: number): void {
  const proxy = at(scene.proxies, index);
  proxy.setMode('pass');
  proxy.cutAll();
}

const runOf = async (scene: Scene, runId: string) =>
  (await scene.edge.runs()).find((run) => run.runId === runId);

async function contentComes(asking: Call): Promise<string> {
  await eventually('content', 5_000, () => readStream(asking.text).content.length > 8);
  return String((await asking.head).headers['x-iop-run']);
}

describe('F6: a partition shorter than lost_after', { timeout: 120_000 }, () => {
  let scene: Scene;
  before(async () => {
    const limits = { heartbeat: `${heartbeatMs}ms`, lost_after: '15s', orphan_after: '10s' };
    scene = await openScene({ nodes: ['n1', 'n2'], proxied: true, limits });
  });
  after(() => scene?.world.close());

  const lengths: Record<string, () => Promise<unknown>> = {
    'that nobody has noticed': () => sleep(heartbeatMs * 1.5),
    'that both sides have noticed': () =>
      eventually('the runs are unknown', 10_000, async () =>
        (await scene.edge.runs()).slice(0, 2).every((run) => run.state === 'unknown'),
      ),
  };
  for (const [length, passed] of Object.entries(lengths)) {
    test(`${length}: the answers are whole, of one attempt, and nobody saw a failure`, limit, async () => {
      await scene.edge.nodesReady(['n1', 'n2']);
      for (const upstream of scene.upstreams) {
        upstream.forget();
        upstream.act(story);
      }
      const asked = [{}, detached].map((headers) =>
        chat(scene.edge, { model: 'vllm-n1/m', stream: true, headers }),
      );
      const runIds = await Promise.all(asked.map(contentComes));
      partition(scene, 0);
      await passed();
      heal(scene, 0);
      for (const asking of asked) {
        const reading = readStream((await asking.answer).text);
        assert.equal(reading.error, undefined);
        assert.equal(reading.content, words.join(''));
        assert.equal(reading.done, true);
      }
      for (const runId of runIds) {
        const { end, attempts } = await scene.edge.runEnded(runId);
        assert.deepEqual({ end, attempts }, { end: { kind: 'completed', finish: 'stop' }, attempts: 1 });
      }
      assert.deepEqual(
        scene.upstreams.map((upstream) => upstream.requests.length),
        [2, 0],
      );
    });
  }
});

describe('F7: a partition longer than lost_after, and then it heals', { timeout: 120_000 }, () => {
  let scene: Scene;
  before(async () => {
    const limits = {
      heartbeat: `${heartbeatMs}ms`,
      lost_after: '2s',
      orphan_after: '1500ms',
      detached_lost_after: '2s',
    };
    scene = await openScene({ nodes: ['n1', 'n2'], proxied: true, limits });
  });
  after(() => scene?.world.close());

  const acts: Record<string, UpstreamAct> = {
    endless: { kind: 'stream', chunks: Array(10_000).fill('x'), paceMs: 10 },
    finite: { kind: 'stream', chunks: Array(200).fill('x'), paceMs: 10 },
    cold: { kind: 'hang' },
  };

  const isolations: Record<string, { isolate(index: number): void; rejoin(index: number): void }> = {
    'cut off': { isolate: (index) => partition(scene, index), rejoin: (index) => heal(scene, index) },
    // it has not noticed that it was away, and would go on
    frozen: {
      isolate: (index) => at(scene.nodes, index).program.signal('SIGSTOP'),
      rejoin: (index) => at(scene.nodes, index).program.signal('SIGCONT'),
    },
  };

  interface Runs {
    victim: number;
    cold: Call;
    /** All of the victim, past their first content. */
    warm: { asking: Call; runId: string }[];
  }

  async function startRuns(): Promise<Runs> {
    const { upstreams, edge } = scene;
    for (const upstream of upstreams) {
      upstream.forget();
      upstream.act(
        ({ text }) =>
          at(
            Object.entries(acts).filter(([name]) => text.includes(name)),
            0,
          )[1],
      );
    }
    const cold = chat(edge, { stream: true, prompt: 'cold', headers: detached });
    const victim = await eventually('a Node works', 5_000, () => {
      const index = upstreams.findIndex((upstream) => upstream.open() > 0);
      return index < 0 ? undefined : index;
    });
    const model = `vllm-n${victim + 1}/m`;
    const warm = ['endless', 'endless', 'finite'].map(async (prompt) => {
      const asking = chat(edge, { model, stream: true, prompt, headers: detached });
      return { asking, runId: await contentComes(asking) };
    });
    return { victim, cold, warm: await Promise.all(warm) };
  }

  for (const [how, { isolate, rejoin }] of Object.entries(isolations)) {
    test(
      `a Node that was ${how}: one attempt counts, what is stale is stopped, all have ended`,
      limit,
      async () => {
        await scene.edge.nodesReady(['n1', 'n2']);
        const { victim, cold, warm } = await startRuns();
        const [lost, cancelled, finished] = warm;
        assert.ok(lost && cancelled && finished);
        const other = at(scene.upstreams, 1 - victim);
        other.act({ kind: 'stream', chunks: ['saved'] });
        isolate(victim);
        const client = await openClient(scene.edge);
        scene.world.defer(() => client.close());
        await eventually(
          'the link is down',
          10_000,
          async () => (await runOf(scene, lost.runId))?.state === 'unknown',
        );
        assert.equal(await client.cancelRun(cancelled.runId), 'stopping');

        const saved = readStream((await cold.answer).text);
        assert.deepEqual([saved.content, saved.done], ['saved', true]);
        for (const { asking, runId } of warm) {
          const reading = readStream((await asking.answer).text);
          assert.deepEqual([reading.error?.code, reading.done], ['node.lost', false]);
          assert.deepEqual((await scene.edge.runEnded(runId)).end, { kind: 'failed', code: 'node.lost' });
          assert.equal(await client.cancelRun(runId), 'failed', 'a cancel that comes too late');
        }

        const before = await endsOf();
        rejoin(victim);
        await scene.edge.nodesReady([`n${victim + 1}`]);
        const backAt = performance.now();
        const upstream = at(scene.upstreams, victim);
        for (const seen of upstream.requests) await upstream.closed(seen, 10_000);
        assert.ok(performance.now() - backAt <= 10_000);
        if (how === 'cut off') {
          const stale = await eventually('the late end is kept', 5_000, async () => {
            const { run } = await client.whyRun(finished.runId);
            return run.stale === '' ? undefined : run.stale;
          });
          assert.match(stale, /attempt 1 had completed/);
          const { out } = await iop(scene.edge, 'why', finished.runId);
          assert.match(out, /too late .*attempt 1 had completed/);
        }
        assert.deepEqual(await endsOf(), before, 'what comes late changes nothing');
        assert.equal(other.requests.length, 1);
      },
    );
  }

  async function endsOf() {
    const runs = await scene.edge.runs();
    for (const { runId, end, attempts } of runs)
      assert.equal(end?.kind, attempts === 2 ? 'completed' : 'failed', runId);
    return runs.map(({ runId, end, attempts, lastPos }) => ({ runId, end, attempts, lastPos }));
  }
});
