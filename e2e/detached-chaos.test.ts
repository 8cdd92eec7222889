// A run that is to go on: its client, the Edge and the link of its Node are killed in turn at random points, and what the
// client puts together is, byte for byte, what an uncut run says.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosProxy } from './harness/chaos-proxy.ts';
import type { Edge } from './harness/edge.ts';
import { seededRandom } from './harness/random.ts';
import { type ResumedChat, resumedChat } from './harness/resumed-chat.ts';
import { openWorld, type World } from './harness/world.ts';

const limit = { timeout: 180_000 };
const words = Array.from({ length: 150 }, (_, index) => `w${index}`).join(' ');
const prompt = `<mock>${JSON.stringify({ text: words, pace_ms: 20 })}</mock>`;

describe('F5: a run that outlives its connections', { timeout: 400_000 }, () => {
  let world: World;
  let edge: Edge;
  let proxy: ChaosProxy;
  let uncut: string;
  before(async () => {
    world = openWorld();
    edge = await world.edge();
    proxy = await world.proxy(edge.wirePort);
    await world.node(edge, { name: 'n1', port: proxy.port });
    uncut = alike(await resumedChat(edge, prompt, 'uncut').whole);
  });
  after(() => world?.close());

  const killers: Record<string, (chat: ResumedChat) => Promise<void> | void> = {
    client: (chat) => chat.cut(),
    link: () => proxy.cutAll(),
    async Edge() {
      await edge.program.kill();
      await edge.start();
    },
  };

  for (const [victim, kill] of Object.entries(killers)) {
    test(`is whole although its ${victim} is killed again and again`, limit, async () => {
      const random = seededRandom(victim.length);
      const chat = resumedChat(edge, prompt, `killed-${victim}`);
      const kills = victim === 'Edge' ? 2 : 6;
      for (let killed = 0; killed < kills; killed++) {
        await sleep(50 + random() * 500);
        await kill(chat);
      }
      assert.equal(alike(await chat.whole), uncut);
      const [record] = (await edge.runs()).filter((run) => run.runId === chat.runId);
      assert.deepEqual(record?.end, { kind: 'completed', finish: 'stop' });
      assert.equal(record?.attempts, 1, 'it was executed once');
    });
  }

  test('is whole although all of them are killed in turn', limit, async () => {
    const random = seededRandom(7);
    const chat = resumedChat(edge, prompt, 'killed-all');
    for (const victim of ['client', 'link', 'Edge', 'link', 'client']) {
      await sleep(50 + random() * 300);
      await killers[victim]?.(chat);
    }
    assert.equal(alike(await chat.whole), uncut);
    assert.equal((await edge.runs()).filter((run) => run.runId === chat.runId).length, 1);
  });
});

/** Without what belongs to the one run and not to what it says. */
function alike(stream: string): string {
  return stream.replaceAll(/run_[0-9a-z]{26}/g, 'RUN').replaceAll(/"created":\d+/g, '"created":0');
}
