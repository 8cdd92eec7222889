import { sleep } from '../load/sleep.ts';
import { readMemory } from '../machine/memory.ts';
import { listTree } from '../machine/process-tree.ts';
import type { Target } from '../targets/target.ts';

const sampleMs = 250;

/** Resident bytes by part of a target. */
export type Resident = ReadonlyMap<string, number>;

/** Least of several looks: between them garbage comes and goes. By part of the target. */
export async function settledBytes(target: Target, durationMs: number): Promise<Resident> {
  const least = new Map<string, number>();
  for (let spentMs = 0; spentMs <= durationMs; spentMs += sampleMs) {
    for (const { name, pid } of target.parts) {
      const { residentBytes } = readMemory(listTree([pid]));
      least.set(name, Math.min(residentBytes, least.get(name) ?? residentBytes));
    }
    await sleep(sampleMs);
  }
  return least;
}

export function sum(bytes: Resident): number {
  return [...bytes.values()].reduce((total, value) => total + value, 0);
}
