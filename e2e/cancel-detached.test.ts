// The cancel matrix for runs that outlive their connections: in every phase, at every door. Whoever started it hangs up,
// which must not end it; a cancel must: the upstream sees its connection closed ≤ 250 ms later.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunUpdate } from '@iop/client';
import { chat } from './harness/chat.ts';
import { type DoorName, type Doors, doorNames, openDoors } from './harness/doors.ts';
import { eventually } from './harness/eventually.ts';
import { openClient } from './harness/operator.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { SeenRequest, Upstream } from './harness/upstream.ts';
import type { UpstreamAct } from './harness/upstream-act.ts';

const promptness = 250;
const limit = { timeout: 60_000 };
/** Longer than a hang-up takes to end an attached run. */
const restMs = 400;
const concurrency = 4;

describe('a detached run', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let doors: Doors;
  before(async () => {
    scene = await openScene({ vllm: { concurrency } });
    upstream = at(scene.upstreams, 0);
    doors = await openDoors(scene.edge, { model: 'm', adapter: 'vllm-n1', target: 'm' });
  });
  after(() => scene?.world.close());

  const seenOf = (prompt: string): Promise<SeenRequest> =>
    eventually('it reaches the upstream', 5_000, () =>
      upstream.requests.find(({ text }) => text.includes(prompt)),
    );
  const recordOf = async (runId: string) => (await scene.edge.runs()).find((run) => run.runId === runId);
  /** An operator cancels as one, whatever the door; a caller as the caller. */
  const causeOf = (name: DoorName) => (name === 'chat' || name === 'responses' ? 'caller' : 'operator');

  async function endsCancelled(runId: string, name: DoorName) {
    const { end } = await scene.edge.runEnded(runId);
    assert.deepEqual(end, { kind: 'cancelled', by: causeOf(name) });
    assert.equal(await doors[name].cancel(runId), 'cancelled', 'a second cancel changes nothing');
  }

  const phases: Record<string, { act: UpstreamAct; stream: boolean; isReached(seen: SeenRequest): boolean }> =
    {
      'cold, before its first token': { act: { kind: 'hang' }, stream: true, isReached: () => true },
      'in mid-stream': {
        act: { kind: 'stream', chunks: Array(1000).fill('x'), paceMs: 10 },
        stream: true,
        isReached: (seen) => seen.sentAt.length > 5,
      },
      'in mid-stream of a silent upstream': {
        act: { kind: 'stream', chunks: ['x'], end: 'hang' },
        stream: true,
        isReached: (seen) => seen.sentAt.length > 0,
      },
      'not streaming': {
        act: { kind: 'json', content: 'late', delayMs: 5_000 },
        stream: false,
        isReached: () => true,
      },
    };

  for (const [phase, { act, stream, isReached }] of Object.entries(phases)) {
    for (const name of doorNames) {
      test(
        `${phase} goes on when its ${name} caller hangs up, and stops when it says so`,
        limit,
        async () => {
          upstream.act(act);
          const prompt = `${phase} at ${name}`;
          const run = await doors[name].start({ prompt, stream });
          const seen = await seenOf(prompt);
          await eventually('the phase is reached', 5_000, () => isReached(seen));
          run.hangUp();
          await sleep(restMs);
          assert.equal(seen.closedAt, undefined, 'a hang-up ended it');

          const askedAt = performance.now();
          const answered = doors[name].cancel(run.runId);
          const tookMs = (await upstream.closed(seen)) - askedAt;
          assert.ok(tookMs <= promptness, `the upstream was closed after ${tookMs} ms`);
          assert.match(await answered, /^(stopping|cancelled)$/);
          await endsCancelled(run.runId, name);
        },
      );
    }
  }

  test(
    'queued goes on waiting without its caller; cancelled, the upstream never sees it',
    limit,
    async () => {
      upstream.forget();
      upstream.act({ kind: 'hang' });
      const holders = Array.from({ length: concurrency }, () => chat(scene.edge, { prompt: 'holder' }));
      await upstream.arrival(concurrency - 1);
      const waiting = [];
      for (const name of doorNames)
        waiting.push({ name, run: await doors[name].start({ prompt: 'waiter' }) });
      for (const { run } of waiting) run.hangUp();
      await sleep(restMs);
      for (const { name, run } of waiting) {
        assert.equal((await recordOf(run.runId))?.state, 'queued');
        assert.equal(await doors[name].cancel(run.runId), 'cancelled');
        await endsCancelled(run.runId, name);
      }
      for (const holder of holders) holder.hangUp();
      await eventually('the holders are gone', 2_000, () => upstream.open() === 0);
      assert.equal(upstream.requests.length, concurrency);
    },
  );

  test('cancelled while it completes ends once, and all say the same', limit, async (t) => {
    const seen: Record<string, number> = {};
    for (let round = 0; round < 24; round++) {
      const prompt = `race ${round}`;
      upstream.act({ kind: 'stream', chunks: ['a', 'b'], delayMs: 20, paceMs: 3 });
      const name = at(doorNames, round % doorNames.length);
      const run = await doors[name].start({ prompt });
      const { arrivedAt } = await seenOf(prompt);
      await sleep(Math.max(0, arrivedAt + 15 + round / 2 - performance.now()));
      await Promise.all([doors[name].cancel(run.runId), doors.operator.cancel(run.runId)]);
      const kind = await endsOnce(run.runId);
      seen[kind] = (seen[kind] ?? 0) + 1;
      run.hangUp();
    }
    t.diagnostic(JSON.stringify(seen));
  });

  async function endsOnce(runId: string): Promise<string> {
    const { end } = await scene.edge.runEnded(runId);
    const client = await openClient(scene.edge);
    try {
      const { run, updates } = await client.watchRun(runId);
      const said: RunUpdate[] = [];
      for await (const update of updates) said.push(update);
      const ends = said.flatMap((update) => (update.kind === 'end' ? [update] : []));
      assert.equal(ends.length, 1);
      assert.equal(ends[0], said.at(-1));
      assert.equal(ends[0]?.end.kind, end?.kind);
      assert.equal(ends[0]?.pos, run.lastPos);
      return end?.kind ?? '';
    } finally {
      client.close();
    }
  }
});
