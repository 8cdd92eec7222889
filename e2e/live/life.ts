import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.ts';
import { freePort } from '../harness/port.ts';
import { openWorld } from '../harness/world.ts';
import { ask, askForever } from './ask.ts';
import { startEngine } from './engine.ts';
import type { EngineFiles } from './engine-files.ts';
import { createClient, listed } from './place.ts';

export type Startable = Extract<EngineFiles, { kind: 'ready' }>;

/** A Node outlives its engine: it starts without one, finds it, loses it in mid-answer and finds it again. */
export async function outliveEngine(files: Startable, say: (line: string) => void): Promise<void> {
  const world = openWorld();
  try {
    const port = await freePort();
    const base_url = `http://127.0.0.1:${port}/v1`;
    const edge = await world.edge({ adapters: [{ name: 'vllm', kind: 'vllm', nodes: ['gpu'], base_url }] });
    await world.node(edge, { name: 'gpu', ready: false });
    const asking = { client: createClient(`${edge.url}/v1`, edge.apiKey), model: files.model };
    await refused(asking);

    let engine = await startEngine(files, port);
    world.defer(() => engine.stop());
    const appeared = performance.now();
    await listed(asking.client, files.model, 60_000);
    say(`picked up ${Math.round(performance.now() - appeared)} ms after the engine was ready`);
    await answers(asking);

    // Longer than engines keep idle connections: the next request must not fall into a closing one.
    await sleep(6_000);
    await answers(asking);

    await killInMidStream(asking, () => engine.kill());
    await refused(asking);

    engine = await startEngine(files, port);
    const back = answersAgain(asking);
    await eventually('the engine is used again', 60_000, back);
  } finally {
    await world.close();
  }
}

interface Asking {
  client: ReturnType<typeof createClient>;
  model: string;
}

async function answers({ client, model }: Asking): Promise<void> {
  const answer = await client.chat.completions.create(ask(model));
  assert.ok((answer.choices[0]?.message.content ?? '').length > 0);
}

function answersAgain(asking: Asking): () => Promise<boolean> {
  return () =>
    answers(asking).then(
      () => true,
      () => false,
    );
}

/** No engine, no answer: a clear refusal, at once. */
async function refused({ client, model }: Asking): Promise<void> {
  const problem = await client.chat.completions.create(ask(model)).then(
    () => assert.fail('answered without an engine'),
    (reason: { status?: number; message: string }) => reason,
  );
  assert.match(String(problem.status), /^(404|502|503)$/, problem.message);
}

/** An answer that was cut never looks whole. */
async function killInMidStream({ client, model }: Asking, kill: () => Promise<void>): Promise<void> {
  const stream = await client.chat.completions.create({ ...askForever(model), stream: true });
  let chunks = 0;
  await assert.rejects(async () => {
    for await (const _chunk of stream) if (++chunks === 5) await kill();
  }, /./);
  assert.ok(chunks >= 5);
}
