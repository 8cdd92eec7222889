import type { TestContext } from 'node:test';
import { OpenAI } from 'openai';
import { eventually } from '../harness/eventually.ts';
import { openWorld } from '../harness/world.ts';
import { type Engine, type ReadyFiles, startEngine } from './engine.ts';
import { startTap, type Tap } from './tap.ts';

/** direct: the client speaks to the engine, which shows what the engine itself does. */
export type PlaceKind = 'direct' | 'iop';

/** An engine, a tap before it, and a client that reaches it. */
export interface Place {
  readonly kind: PlaceKind;
  readonly client: OpenAI;
  /** The name of the engine's model. */
  readonly model: string;
  /** Posts these bytes to `chat/completions`, or another path, and reads the answer to its end. */
  post(body: string, path?: string): Promise<{ status: number; headers: Headers; text: string }>;
  readonly tap: Tap;
  readonly engine: Engine;
  close(): Promise<void>;
}

/** One thing that must be true at a place. */
export interface Row {
  name: string;
  /** Only there: about something that the other has no part in. */
  only?: PlaceKind;
  run(place: Place, test: TestContext): Promise<void>;
}

export interface PlaceOptions {
  /** iop: the engine is always or never asked for a stream, whatever the client wants. */
  forceStream?: boolean;
}

export async function openPlace(
  kind: PlaceKind,
  files: ReadyFiles,
  options: PlaceOptions = {},
): Promise<Place> {
  const world = openWorld();
  try {
    const engine = await startEngine(files);
    world.defer(() => engine.stop());
    const tap = await startTap(engine.origin);
    world.defer(() => tap.close());
    const { baseURL, apiKey } =
      kind === 'iop'
        ? await throughIop(world, { baseUrl: tap.baseUrl, model: engine.model, ...options })
        : here(tap.baseUrl);
    const client = createClient(baseURL, apiKey);
    return {
      kind,
      client,
      model: engine.model,
      post: poster(baseURL, apiKey),
      tap,
      engine,
      close: () => world.close(),
    };
  } catch (cause) {
    await world.close();
    throw cause;
  }
}

/** Never tries twice: a second try would hide the first failure. */
export function createClient(baseURL: string, apiKey: string): OpenAI {
  return new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 120_000 });
}

type World = ReturnType<typeof openWorld>;

/** Edge and Node before an engine whose base URL this is; ready when the model is listed. */
async function throughIop(
  world: World,
  { baseUrl, model, forceStream }: PlaceOptions & { baseUrl: string; model: string },
): Promise<Reach> {
  const targets = forceStream === undefined ? [] : [{ name: model, force_stream: forceStream }];
  const adapter = { name: 'vllm', kind: 'vllm' as const, nodes: ['gpu'], base_url: baseUrl, targets };
  const edge = await world.edge({ adapters: [adapter] });
  await world.node(edge, { name: 'gpu' });
  const reached = { baseURL: `${edge.url}/v1`, apiKey: edge.apiKey };
  await listed(createClient(reached.baseURL, reached.apiKey), model, 20_000);
  return reached;
}

export async function listed(client: OpenAI, model: string, timeoutMs: number): Promise<void> {
  await eventually(`${model} is listed`, timeoutMs, async () => {
    const { data } = await client.models.list();
    return data.some(({ id }) => id === model);
  });
}

interface Reach {
  baseURL: string;
  apiKey: string;
}

function here(baseURL: string): Reach {
  return { baseURL, apiKey: 'none' };
}

function poster(baseURL: string, apiKey: string): Place['post'] {
  return async (body, path = 'chat/completions') => {
    const answer = await fetch(`${baseURL}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body,
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
}
