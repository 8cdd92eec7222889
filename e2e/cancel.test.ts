// F14: the caller hangs up, in every phase of a run, streaming or not. Seen at the upstream: its connection
// is closed ≤ 250 ms later; the slot is free; the record says who it was.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chat, contentOf, readStream } from './harness/chat.ts';
import { eventually } from './harness/eventually.ts';
import type { Call } from './harness/http.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';
import type { UpstreamAct } from './harness/upstream-act.ts';

const promptness = 250;
const limit = { timeout: 60_000 };

describe('F14: a caller that hangs up', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  before(async () => {
    scene = await openScene({ vllm: { concurrency: 1 } });
    upstream = at(scene.upstreams, 0);
  });
  after(() => scene?.world.close());

  /** Asks, waits for the phase, hangs up, and checks upstream, record and slot. */
  async function hangUpWhen(act: UpstreamAct, stream: boolean, phase: (asking: Call) => Promise<unknown>) {
    upstream.forget();
    upstream.act(act);
    const asking = chat(scene.edge, { stream });
    const seen = await upstream.arrival(0);
    await phase(asking);
    const hungUpAt = asking.hangUp();
    const tookMs = (await upstream.closed(seen)) - hungUpAt;
    assert.ok(tookMs <= promptness, `the upstream was closed after ${tookMs} ms`);
    assert.equal(seen.finished, false);
    await endsCancelledByCaller();
    await slotIsFree();
  }

  async function endsCancelledByCaller() {
    const newest = await eventually('the newest run ends', 2_000, async () => {
      const run = at(await scene.edge.runs(), 0);
      return run.end === undefined ? undefined : run;
    });
    assert.deepEqual(newest.end, { kind: 'cancelled', by: 'caller' });
  }

  async function slotIsFree() {
    upstream.act({ kind: 'json', content: 'free' });
    assert.equal(contentOf((await chat(scene.edge).answer).text), 'free');
  }

  test('before the first token of a stream closes the upstream', limit, () =>
    hangUpWhen({ kind: 'hang' }, true, () => sleep(50)),
  );

  test('after the headers but before the first token closes the upstream', limit, () =>
    hangUpWhen({ kind: 'stream', chunks: [], end: 'hang' }, true, () => sleep(50)),
  );

  test('in mid-stream closes the upstream', limit, () =>
    hangUpWhen({ kind: 'stream', chunks: Array(1000).fill('x'), paceMs: 10 }, true, (asking) =>
      eventually('five chunks', 5_000, () => readStream(asking.text).content.length >= 5),
    ),
  );

  test('in mid-stream of a silent upstream closes it', limit, () =>
    hangUpWhen({ kind: 'stream', chunks: ['x'], end: 'hang' }, true, (asking) =>
      eventually('a chunk', 5_000, () => readStream(asking.text).content === 'x'),
    ),
  );

  test('without streaming closes the upstream', limit, () =>
    hangUpWhen({ kind: 'json', content: 'late', delayMs: 5_000 }, false, () => sleep(50)),
  );

  test('while it waits in the queue is forgotten at once: the upstream never sees it', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'hang' });
    const holder = chat(scene.edge, { prompt: 'holder' });
    await upstream.arrival(0);
    for (const stream of [true, false]) {
      const waiter = chat(scene.edge, { prompt: 'waiter', stream });
      await eventually(
        'a run is queued',
        2_000,
        async () => at(await scene.edge.runs(), 0).state === 'queued',
      );
      waiter.hangUp();
      await endsCancelledByCaller();
    }
    holder.hangUp();
    await upstream.closed(at(upstream.requests, 0));
    await slotIsFree();
    const prompts = upstream.requests.map((request) => at(request.body.messages, 0).content);
    assert.deepEqual(prompts, ['holder', 'hello']);
  });

  test('fifty at once leave nothing open behind them', limit, async () => {
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(1000).fill('x'), paceMs: 10 });
    const calls = Array.from({ length: 50 }, () => chat(scene.edge, { stream: true }));
    await upstream.arrival(0);
    for (const asking of calls) asking.hangUp();
    await eventually('nothing is open at the upstream', 2_000, () => upstream.open() === 0);
    await eventually('every run has ended', 2_000, async () =>
      (await scene.edge.runs()).every((run) => run.end !== undefined),
    );
    await slotIsFree();
  });
});
