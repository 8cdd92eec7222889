import { readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseStatTicks } from './cpu-time.ts';
import { listTree, readProc } from './process-tree.ts';

const ticksPerSecond = 100;
export const maxLoad = 1;
export const maxForeignPercent = 5;

/** CPU that processes outside of this benchmark used since the last look, in percent of one core. */
export class ForeignCpu {
  readonly #ownRoots: readonly number[];
  #ticks: ReadonlyMap<number, number>;
  #atMs: number;

  /** @param ownRoots processes whose trees are ours */
  constructor(ownRoots: readonly number[]) {
    this.#ownRoots = ownRoots;
    this.#ticks = readForeignTicks(ownRoots);
    this.#atMs = performance.now();
  }

  sample(): number {
    const ticks = readForeignTicks(this.#ownRoots);
    const atMs = performance.now();
    let used = 0;
    for (const [pid, now] of ticks) used += now - (this.#ticks.get(pid) ?? now);
    const percent = (100 * used) / ticksPerSecond / ((atMs - this.#atMs) / 1000);
    this.#ticks = ticks;
    this.#atMs = atMs;
    return percent;
  }
}

function readForeignTicks(ownRoots: readonly number[]): ReadonlyMap<number, number> {
  const own = new Set(listTree(ownRoots));
  const ticks = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || own.has(pid)) continue;
    const stat = readProc(`/proc/${pid}/stat`);
    if (stat !== '') ticks.set(pid, parseStatTicks(stat));
  }
  return ticks;
}

/** Why this machine is not fit for measuring now; empty when it is. Takes a second. */
export async function findNoise(ownRoots: readonly number[]): Promise<string[]> {
  const foreign = new ForeignCpu(ownRoots);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const percent = foreign.sample();
  const load = loadavg()[0] ?? 0;
  const reasons: string[] = [];
  if (load > maxLoad) reasons.push(`load average ${load.toFixed(2)} > ${maxLoad}`);
  if (percent > maxForeignPercent) {
    reasons.push(`other processes use ${percent.toFixed(0)} % of a core > ${maxForeignPercent} %`);
  }
  return reasons;
}
