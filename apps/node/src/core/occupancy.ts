import type { AdapterConfiguration } from '../ports/adapter-factory.ts';

/**
 * How many runs execute now, by adapter name and target: over all instances of a name, so that a
 * changed configuration does not double what a machine has to bear.
 */
export class Occupancy {
  readonly #adapters = new Map<string, number>();
  readonly #targets = new Map<string, number>();

  /** Why there is no room for one more, or undefined. */
  fullness(configuration: AdapterConfiguration, target: string): string | undefined {
    const { name, concurrency } = configuration;
    if (concurrency > 0 && (this.#adapters.get(name) ?? 0) >= concurrency) {
      return `adapter ${name} executes ${concurrency} runs, as many as it may`;
    }
    const limit = configuration.targets.find((known) => known.name === target)?.concurrency ?? 0;
    if (limit > 0 && (this.#targets.get(targetKey(name, target)) ?? 0) >= limit) {
      return `target ${target} of adapter ${name} executes ${limit} runs, as many as it may`;
    }
    return undefined;
  }

  enter(adapter: string, target: string): void {
    add(this.#adapters, adapter, 1);
    add(this.#targets, targetKey(adapter, target), 1);
  }

  leave(adapter: string, target: string): void {
    add(this.#adapters, adapter, -1);
    add(this.#targets, targetKey(adapter, target), -1);
  }
}

function targetKey(adapter: string, target: string): string {
  return `${adapter}\n${target}`;
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}
