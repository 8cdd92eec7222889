import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../harness/eventually.ts';
import { freePort } from '../harness/port.ts';
import { type Program, startProgram } from '../harness/program.ts';
import type { EngineFiles } from './engine-files.ts';

export type ReadyFiles = Extract<EngineFiles, { kind: 'ready' }>;

/** The name under which the engine lists its model. */
export const engineModel = 'smollm2';

/**
 * llama.cpp looks whether its caller is still there when no result of any task came for a second, and
 * an answer from `/slots` is one: looked at more often, it never notices that a caller has left.
 */
const lookEveryMs = 2_000;

/** A running llama.cpp server. */
export interface Engine {
  readonly port: number;
  readonly program: Program;
  /** Slots that are at work, by the engine's own word. */
  busySlots(): Promise<number>;
  /** Waits until no slot is at work. */
  idle(timeoutMs: number): Promise<void>;
}

export async function startEngine(files: ReadyFiles, port?: number): Promise<Engine> {
  const chosen = port ?? (await freePort());
  const program = startProgram({
    name: 'llama-server',
    command: files.command(chosen),
    // Threads that wait by spinning would starve everything else on two cores.
    env: { OMP_WAIT_POLICY: 'passive', OMP_NUM_THREADS: '2' },
    lifeMs: 900_000,
  });
  const engine = describeEngine(program, chosen);
  await eventually('the engine has loaded its model', 60_000, async () => {
    if (!program.running) throw new Error(`the engine ended:\n${program.lines.slice(-15).join('\n')}`);
    return await fetch(`http://127.0.0.1:${chosen}/health`).then(
      (answer) => answer.body?.cancel().then(() => answer.ok),
      () => false,
    );
  });
  return engine;
}

function describeEngine(program: Program, port: number): Engine {
  const engine: Engine = {
    port,
    program,
    async busySlots() {
      const answer = await fetch(`http://127.0.0.1:${port}/slots`);
      const slots = (await answer.json()) as { is_processing: boolean }[];
      return slots.filter((slot) => slot.is_processing).length;
    },
    async idle(timeoutMs) {
      await eventually('the engine is idle', timeoutMs, async () => {
        await sleep(lookEveryMs);
        return (await engine.busySlots()) === 0;
      });
    },
  };
  return engine;
}
