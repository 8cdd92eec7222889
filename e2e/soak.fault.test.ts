// F32, small: callers of every kind for a minute and a half, while links are cut, Nodes are killed and upstreams
// break, by a seeded schedule (IOP_E2E_SEED plays one again). Afterwards the history is checked: what looked whole
// was whole, every run has one end, and nothing is left open.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat, contentOf, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import { seededRandom } from './harness/random.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { StreamEnd, UpstreamAct } from './harness/upstream-act.ts';

const seed = Number(process.env.IOP_E2E_SEED ?? Date.now() % 100_000);
const soakMs = 90_000;
const chunks = Array.from({ length: 40 }, (_nothing, index) => `${index} `);
const whole = chunks.join('');

interface Tally {
  whole: number;
  broken: number;
  refused: number;
  left: number;
}

describe(`F32: a soak with seed ${seed}`, { timeout: 300_000 }, () => {
  const random = seededRandom(seed);
  let scene: Scene;
  before(async () => {
    const limits = { heartbeat: '500ms', lost_after: '3s', orphan_after: '2s', redispatch_after: '200ms' };
    scene = await openScene({
      nodes: ['n1', 'n2', 'n3'],
      proxied: true,
      limits,
      vllm: { idle_timeout: '2s' },
    });
    for (const upstream of scene.upstreams) upstream.act((seen) => pickAct(seen.body.stream === true));
  });
  after(() => scene?.world.close());

  function pickAct(stream: boolean): UpstreamAct {
    const dice = random();
    if (dice < 0.05) return { kind: 'drop' };
    if (dice < 0.08) return { kind: 'bytes', status: 500, body: '{}' };
    if (!stream) return { kind: 'json', content: whole, delayMs: random() * 200 };
    const ends: StreamEnd[] = ['cut', 'reset', 'hang', 'end-early'];
    const end = dice < 0.15 ? (ends[Math.floor(random() * ends.length)] ?? 'cut') : 'done';
    return { kind: 'stream', chunks, paceMs: 5, end };
  }

  test('what looks whole is whole, every run ends once, nothing stays open', {
    timeout: 250_000,
  }, async (t) => {
    const stopAt = performance.now() + soakMs;
    const tally: Tally = { whole: 0, broken: 0, refused: 0, left: 0 };
    const callers = Array.from({ length: 12 }, () => callUntil(stopAt, tally));
    await Promise.all([...callers, breakUntil(stopAt)]);
    t.diagnostic(JSON.stringify(tally));
    assert.ok(tally.whole > 100);

    await scene.edge.nodesReady(['n1', 'n2', 'n3']);
    await eventually('nothing is open at the upstreams', 20_000, () =>
      scene.upstreams.every((upstream) => upstream.open() === 0),
    );
    await eventually('every run has an end', 20_000, async () =>
      (await scene.edge.runs()).every((run) => run.end !== undefined),
    );
    await eventually('sockets are closed', 20_000, () => openFiles(scene.edge.program.pid) < 60);
  });

  async function callUntil(stopAt: number, tally: Tally) {
    while (performance.now() < stopAt) {
      const stream = random() < 0.7;
      const asking = chat(scene.edge, { stream });
      if (random() < 0.2) {
        await sleep(random() * 200);
        asking.hangUp();
        tally.left++;
        continue;
      }
      const answer = await asking.answer.catch(() => undefined);
      if (answer === undefined) tally.broken++;
      else if (answer.status !== 200) tally.refused++;
      else if (stream) tally[judgeStream(answer.text)]++;
      else {
        assert.equal(contentOf(answer.text), whole);
        tally.whole++;
      }
    }
  }

  function judgeStream(text: string): 'whole' | 'broken' {
    const { content, done, finish, error } = readStream(text);
    assert.ok(whole.startsWith(content), `out of order or doubled: ${content}`);
    assert.equal(done, error === undefined, text.slice(-300));
    assert.equal(done, finish === 'stop');
    if (done) assert.equal(content, whole);
    return done ? 'whole' : 'broken';
  }

  async function breakUntil(stopAt: number) {
    while (performance.now() < stopAt - 10_000) {
      await sleep(500 + random() * 2_000);
      await breakOne(Math.floor(random() * scene.nodes.length));
    }
  }

  async function breakOne(index: number) {
    const node = at(scene.nodes, index);
    const proxy = at(scene.proxies, index);
    const dice = random();
    if (dice < 0.4) void proxy.cutAfter(random() < 0.5 ? 'up' : 'down', Math.floor(random() * 5_000));
    else if (dice < 0.6) proxy.cutAll();
    else if (dice < 0.75) {
      node.program.signal('SIGSTOP');
      await sleep(random() * 2_500);
      node.program.signal('SIGCONT');
    } else {
      await node.program.kill();
      node.start();
    }
  }
});

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
