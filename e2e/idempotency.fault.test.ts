// F9 across the death of the Edge: it is killed at random points between a command and its answer, again and again, while
// clients at every door insist. Each command has one effect, and its client learns of that very run.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Doors, doorNames, openDoors } from './harness/doors.ts';
import { eventually } from './harness/eventually.ts';
import { insist } from './harness/insist.ts';
import { seededRandom } from './harness/random.ts';
import { at, openScene, type Scene } from './harness/scene.ts';
import type { Upstream } from './harness/upstream.ts';

const rounds = 20;
/** Of each door in each round. */
const commands = 3;

describe('F9: an Edge that is killed between a command and its answer', { timeout: 600_000 }, () => {
  let scene: Scene;
  let upstream: Upstream;
  let doors: Doors;
  before(async () => {
    scene = await openScene();
    upstream = at(scene.upstreams, 0);
    upstream.act({ kind: 'stream', chunks: ['done'], delayMs: 20 });
    doors = await openDoors(scene.edge, { model: 'm', adapter: 'vllm-n1', target: 'm' });
  });
  after(() => scene?.world.close());

  test(`executes each command once, ${rounds} times`, { timeout: 580_000 }, async (t) => {
    const random = seededRandom(9);
    for (let round = 0; round < rounds; round++) {
      upstream.forget();
      const asks = doorNames.flatMap((name) =>
        Array.from({ length: commands }, (_, index) => ({ name, key: `${name}-${round}-${index}.` })),
      );
      const insisting = asks.map(async ({ name, key }) => {
        await sleep(random() * 60);
        // twice, as from a client whose first answer was lost
        return await Promise.all([0, 1].map(() => insist(doors[name], { prompt: key, key })));
      });
      const seenAtKill = Math.floor(random() * (asks.length + 1));
      await eventually('so many have come through', 20_000, () => upstream.requests.length >= seenAtKill);
      await sleep(random() * 10);
      await scene.edge.program.kill();
      await scene.edge.start();
      const runIds = await Promise.all(insisting);
      t.diagnostic(`round ${round}: killed with ${seenAtKill} or more of ${asks.length} at the upstream`);
      for (const [index, { key }] of asks.entries()) {
        const [first = '', second] = at(runIds, index);
        assert.equal(first, second, `${key} is one run`);
        const { end } = await scene.edge.runEnded(first, 30_000);
        assert.deepEqual(end, { kind: 'completed', finish: 'stop' }, key);
        assert.equal(upstream.requests.filter(({ text }) => text.includes(key)).length, 1, key);
      }
    }
  });
});
