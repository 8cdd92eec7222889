import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.ts';
import { freePort } from '../harness/port.ts';
import { startProgram } from '../harness/program.ts';
import type { EngineFiles } from './engine-files.ts';
import { askLoad } from './engine-load.ts';

export type ReadyFiles = Exclude<EngineFiles, { kind: 'missing' }>;

/**
 * llama.cpp looks whether its caller is still there when no result of any task came for a second, and
 * an answer from `/slots` is one: looked at more often, it never notices that a caller has left.
 */
const lookEveryMs = 2_000;

/** A running engine. */
export interface Engine {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The name under which it lists its model. */
  readonly model: string;
  /** Requests that it works on, by its own word; undefined when it does not tell. */
  load(): Promise<number | undefined>;
  /** Waits until it works on nothing; at once when it does not tell. */
  idle(timeoutMs: number): Promise<void>;
  /** Nothing happens to an engine that somebody else has started. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export async function startEngine(files: ReadyFiles, port?: number): Promise<Engine> {
  if (files.kind === 'running') return await describeEngine(files.origin, {});
  const chosen = port ?? (await freePort());
  const program = startProgram({
    name: 'llama-server',
    command: files.command(chosen),
    // Threads that wait by spinning would starve everything else on two cores.
    env: { OMP_WAIT_POLICY: 'passive', OMP_NUM_THREADS: '2' },
    lifeMs: 900_000,
  });
  const origin = `http://127.0.0.1:${chosen}`;
  await eventually('the engine has loaded its model', 60_000, async () => {
    if (!program.running) throw new Error(`the engine ended:\n${program.lines.slice(-15).join('\n')}`);
    return await isHealthy(origin);
  });
  return await describeEngine(origin, {
    stop: async () => void (await program.stop()),
    kill: async () => void (await program.kill()),
  });
}

async function isHealthy(origin: string): Promise<boolean> {
  try {
    const answer = await fetch(`${origin}/health`);
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

async function describeEngine(
  origin: string,
  ends: { stop?(): Promise<void>; kill?(): Promise<void> },
): Promise<Engine> {
  const models = (await (await fetch(`${origin}/v1/models`)).json()) as { data: { id: string }[] };
  const model = models.data[0]?.id;
  if (model === undefined) throw new Error(`${origin} lists no model`);
  return {
    origin,
    model,
    load: () => askLoad(origin),
    async idle(timeoutMs) {
      await eventually('the engine is idle', timeoutMs, async () => {
        await sleep(lookEveryMs);
        return ((await askLoad(origin)) ?? 0) === 0;
      });
    },
    stop: async () => await ends.stop?.(),
    kill: async () => await ends.kill?.(),
  };
}
