// A cancel of a detached run while its Node is away: it is on the disk before it is answered, so that not even an Edge that
// is killed in the next moment forgets it, and the Node hears of it when it is back.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type DetachedRun, type DoorName, type Doors, doorNames, openDoors } from './harness/doors.ts';
import { eventually } from './harness/eventually.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { SeenRequest, Upstream } from './harness/upstream.ts';

const limit = { timeout: 90_000 };
/** From when the Node is back. */
const stoppedWithinMs = 2_000;

interface Working {
  name: DoorName;
  run: DetachedRun;
  seen: SeenRequest;
}

describe('a detached run whose Node is away', { timeout: 300_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let doors: Doors;
  before(async () => {
    scene = await openScene({ proxied: true });
    upstream = at(scene.upstreams, 0);
    doors = await openDoors(scene.edge, { model: 'm', adapter: 'vllm-n1', target: 'm' });
  });
  after(() => scene?.world.close());
  beforeEach(async () => {
    await scene.edge.nodesReady(['n1']);
    upstream.forget();
    upstream.act({ kind: 'stream', chunks: Array(10_000).fill('x'), paceMs: 10 });
  });

  /** One of each door, in mid-stream. */
  async function oneOfEach(): Promise<Working[]> {
    const working: Working[] = [];
    for (const name of doorNames) {
      const run = await doors[name].start({ prompt: `away ${name}` });
      const seen = await upstream.arrival(working.length);
      await eventually('content', 5_000, () => seen.sentAt.length > 3);
      working.push({ name, run, seen });
    }
    return working;
  }

  const stateOf = async (runId: string) =>
    (await scene.edge.runs()).find((run) => run.runId === runId)?.state;

  async function isAway() {
    at(scene.proxies, 0).setMode('refuse');
    await eventually('the Edge knows', 5_000, async () =>
      (await scene.edge.runs()).slice(0, doorNames.length).every((run) => run.state === 'unknown'),
    );
  }

  /** When the Node was back: how long that takes is a matter of its back-off. */
  async function healed(): Promise<number> {
    at(scene.proxies, 0).setMode('pass');
    await scene.edge.nodesReady(['n1']);
    return performance.now();
  }

  async function allStopped(working: readonly Working[], sinceMs: number) {
    for (const { name, run, seen } of working) {
      const tookMs = (await upstream.closed(seen, 20_000)) - sinceMs;
      assert.ok(tookMs <= stoppedWithinMs, `closed after ${tookMs} ms`);
      const { end, attempts } = await scene.edge.runEnded(run.runId);
      const by = name === 'chat' || name === 'responses' ? 'caller' : 'operator';
      assert.deepEqual(end, { kind: 'cancelled', by });
      assert.equal(attempts, 1);
      assert.equal(await doors[name].cancel(run.runId), 'cancelled');
    }
  }

  test('is stopping when it is cancelled, and stopped when the Node is back', limit, async () => {
    const working = await oneOfEach();
    for (const { run } of working) run.hangUp();
    await isAway();
    const answers = working.map(({ name, run }) => doors[name].cancel(run.runId));
    for (const { name, run } of working.filter((each) => each.name !== 'responses')) {
      assert.equal(await answers[doorNames.indexOf(name)], 'stopping');
      assert.equal(await doors[name].cancel(run.runId), 'stopping', 'asked again');
    }
    for (const { run, seen } of working) {
      assert.equal(await stateOf(run.runId), 'stopping');
      assert.equal(seen.closedAt, undefined);
    }
    await allStopped(working, await healed());
    // that door waits with its answer until the work has stopped
    assert.equal(await answers[doorNames.indexOf('responses')], 'cancelled');
  });

  test('is cancelled although the Edge is killed in the moment in which it answers', limit, async () => {
    const working = await oneOfEach();
    await isAway();
    const answering = working.filter(({ name }) => name !== 'responses');
    await Promise.all(answering.map(({ name, run }) => doors[name].cancel(run.runId)));
    await scene.edge.program.kill();
    await scene.edge.start();
    for (const { run } of answering) assert.equal(await stateOf(run.runId), 'stopping');
    const [rest] = working.filter(({ name }) => name === 'responses');
    assert.ok(rest);
    assert.equal(await stateOf(rest.run.runId), 'unknown', 'nobody has cancelled it');

    await allStopped(answering, await healed());
    assert.equal(rest.seen.closedAt, undefined, 'it went on through all of that');
    const askedAt = performance.now();
    assert.equal(await doors.responses.cancel(rest.run.runId), 'cancelled');
    const tookMs = (await upstream.closed(rest.seen)) - askedAt;
    assert.ok(tookMs <= 250, `closed after ${tookMs} ms`);
  });
});
