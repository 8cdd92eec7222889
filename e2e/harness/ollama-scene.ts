import OpenAI from 'openai';
import type { Edge } from './edge.ts';
import type { Node } from './node.ts';
import { type FakeOllama, startFakeOllama } from './ollama.ts';
import { at } from './scene.ts';
import { openWorld, type World } from './world.ts';

/** Two fake Ollamas, each for a Node of its own; `m` is the model that both have. Only the first Node is started. */
export interface OllamaScene {
  world: World;
  edge: Edge;
  ollamas: readonly FakeOllama[];
  /** The first one's. */
  ollama: FakeOllama;
  node: Node;
  client: OpenAI;
  startSecondNode(): Promise<Node>;
}

export async function openOllamaScene(): Promise<OllamaScene> {
  const world = openWorld();
  try {
    const ollamas = [await startFakeOllama(), await startFakeOllama()];
    for (const fake of ollamas) world.defer(() => fake.close());
    const edge = await world.edge({
      adapters: ollamas.map(({ baseUrl }, index) => ({
        name: `ollama-${index}`,
        kind: 'ollama',
        nodes: [`n${index}`],
        base_url: baseUrl,
        num_ctx: 4096,
      })),
      models: ollamas.map((_fake, index) => ({ name: 'm', adapter: `ollama-${index}`, target: 'm:1b' })),
    });
    const start = (name: string) => world.node(edge, { name, allow: { adapters: ['ollama'] } });
    const node = await start('n0');
    const client = new OpenAI({ baseURL: `${edge.url}/v1`, apiKey: edge.apiKey, maxRetries: 0 });
    return { world, edge, ollamas, ollama: at(ollamas, 0), node, client, startSecondNode: () => start('n1') };
  } catch (cause) {
    await world.close().catch(() => {});
    throw cause;
  }
}
