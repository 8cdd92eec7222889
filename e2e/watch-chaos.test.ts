// What a watcher was shown is what the log says for ever, also if the Edge is killed in the same instant.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { followRun, toEventJson } from '@iop/client';
import type { Edge } from './harness/edge.ts';
import { openClient, operatorClock } from './harness/operator.ts';
import { seededRandom } from './harness/random.ts';
import { openWorld, type World } from './harness/world.ts';

const text = Array.from({ length: 600 }, (_nothing, index) => `w${index}`).join(' ');
const script = `<mock>${JSON.stringify({ text, pace_ms: 4 })}</mock>`;
const body = JSON.stringify({ model: 'echo', stream: true, messages: [{ role: 'user', content: script }] });

describe('F5: a watcher of a run whose Edge is killed', { timeout: 300_000 }, () => {
  let world: World;
  let edge: Edge;
  before(async () => {
    world = openWorld();
    edge = await world.edge();
    await world.node(edge, { name: 'n1' });
  });
  after(() => world?.close());

  test('saw every pos once, and the event that the log has there', { timeout: 200_000 }, async () => {
    const order = { adapter: 'mock', target: 'echo', dialect: 'openai.chat', stream: true };
    const client = await openClient(edge);
    const { runId } = await client.startDetached({ ...order, body: Buffer.from(body) });
    client.close();
    const watching = watch(edge, runId);
    for (let kills = 0; kills < 3; kills++) {
      await sleep(150 + seededRandom(kills)() * 250);
      await edge.program.kill();
      await edge.start();
      await edge.nodesReady(['n1']);
    }
    const seen = await watching;
    const again = await openClient(edge);
    assert.deepEqual(seen, await readAll(again, runId));
    again.close();
  });
});

/** Lines of pos and event, without the end. */
async function watch(edge: Edge, runId: string): Promise<string[]> {
  const seen: string[] = [];
  const signal = AbortSignal.timeout(120_000);
  const connect = () => openClient(edge);
  for await (const update of followRun(runId, 0, {
    connect,
    clock: operatorClock,
    random: Math.random,
    signal,
  })) {
    if (update.kind === 'gap') seen.push(`gap ${update.fromPos} to ${update.toPos}`);
    if (update.kind === 'event') seen.push(`${update.pos} ${JSON.stringify(toEventJson(update.event))}`);
  }
  return seen;
}

async function readAll(client: Awaited<ReturnType<typeof openClient>>, runId: string): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const { events, firstPos } = await client.readRun(runId, { afterPos: lines.length });
    lines.push(...events.map((event, index) => `${firstPos + index} ${JSON.stringify(toEventJson(event))}`));
    if (events.length === 0 || events.at(-1)?.kind.case === 'end') return lines.slice(0, -1);
  }
}
