import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.ts';
import { freePort } from '../harness/port.ts';
import { openWorld } from '../harness/world.ts';
import { ask, askForever } from './ask.ts';
import { type ReadyFiles, startEngine } from './engine.ts';
import { createClient, listed } from './place.ts';

/** A Node outlives its engine: it starts without one, finds it, loses it in mid-answer and finds it again. */
export async function outliveEngine(files: ReadyFiles, say: (line: string) => void): Promise<void> {
  const world = openWorld();
  try {
    const port = await freePort();
    const base_url = `http://127.0.0.1:${port}/v1`;
    const edge = await world.edge({ adapters: [{ name: 'vllm', kind: 'vllm', nodes: ['gpu'], base_url }] });
    await world.node(edge, { name: 'gpu', ready: false });
    const client = createClient(`${edge.url}/v1`, edge.apiKey);
    await refused(client);

    let engine = await startEngine(files, port);
    world.defer(async () => void (await engine.program.stop()));
    const appeared = performance.now();
    await listed(client, 60_000);
    say(`picked up ${Math.round(performance.now() - appeared)} ms after the engine was ready`);
    await answers(client);

    // Longer than engines keep idle connections: the next request must not fall into a closing one.
    await sleep(6_000);
    await answers(client);

    await killInMidStream(client, () => engine.program.kill());
    await eventually('the loss of the engine is seen', 60_000, () => refused(client).then(() => true));

    engine = await startEngine(files, port);
    await eventually('the engine is used again', 60_000, () =>
      answers(client).then(
        () => true,
        () => false,
      ),
    );
  } finally {
    await world.close();
  }
}

type Client = ReturnType<typeof createClient>;

async function answers(client: Client): Promise<void> {
  const answer = await client.chat.completions.create(ask());
  assert.ok((answer.choices[0]?.message.content ?? '').length > 0);
}

/** No engine, no answer: a clear refusal, at once. */
async function refused(client: Client): Promise<void> {
  const problem = await client.chat.completions.create(ask()).then(
    () => assert.fail('answered without an engine'),
    (reason: { status?: number; message: string }) => reason,
  );
  assert.match(String(problem.status), /^(404|502|503)$/, problem.message);
}

async function killInMidStream(client: Client, kill: () => Promise<unknown>): Promise<void> {
  const stream = await client.chat.completions.create({ ...askForever(), stream: true });
  let chunks = 0;
  await assert.rejects(async () => {
    for await (const _chunk of stream) if (++chunks === 5) await kill();
  }, /./);
  assert.ok(chunks >= 5);
}
