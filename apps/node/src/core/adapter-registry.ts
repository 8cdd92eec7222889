import { toIopError } from '@iop/domain';
import type { Adapter } from '@iop/runtime';
import type { AdapterConfiguration, AdapterFactory, Allow } from '../ports/adapter-factory.ts';
import type { Log } from '../ports/log.ts';

/** An adapter instance and who uses it. */
export interface AdapterInstance {
  readonly adapter: Adapter;
  readonly configuration: AdapterConfiguration;
  /** Runs that execute on it. */
  running: number;
  /** No longer configured: closed after its last run. */
  retired: boolean;
}

export interface RegistryDeps {
  factories: ReadonlyMap<string, AdapterFactory>;
  allow: Allow;
  log: Log;
}

/**
 * The adapter instances of the configuration in force.
 *
 * G1: a run keeps the instance that it began with, whatever is configured meanwhile.
 * G2: what did not change in a new configuration keeps its instance (and its warm connections).
 * G3: an instance is closed exactly once, after its last run.
 */
export class AdapterRegistry {
  readonly #deps: RegistryDeps;
  #instances = new Map<string, AdapterInstance>();

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  get(name: string): AdapterInstance | undefined {
    return this.#instances.get(name);
  }

  all(): readonly AdapterInstance[] {
    return [...this.#instances.values()];
  }

  /** Problems; if there are any, nothing has changed. */
  apply(configurations: readonly AdapterConfiguration[]): readonly string[] {
    const next = new Map<string, AdapterInstance>();
    const problems: string[] = [];
    for (const configuration of configurations) {
      const instance = this.#keepOrCreate(configuration);
      if (typeof instance === 'string') problems.push(`adapters.${configuration.name}: ${instance}`);
      else next.set(configuration.name, instance);
    }
    const before = this.#instances;
    if (problems.length === 0) this.#instances = next;
    const dropped = problems.length === 0 ? before : next;
    for (const [name, instance] of dropped) {
      if (this.#instances.get(name) !== instance) this.#retire(instance);
    }
    return problems;
  }

  enter(instance: AdapterInstance): void {
    instance.running++;
  }

  leave(instance: AdapterInstance): void {
    instance.running--;
    if (instance.retired && instance.running === 0) this.#close(instance);
  }

  async close(): Promise<void> {
    const instances = this.all();
    this.#instances = new Map();
    await Promise.all(instances.map((instance) => instance.adapter.close()));
  }

  #keepOrCreate(configuration: AdapterConfiguration): AdapterInstance | string {
    const known = this.#instances.get(configuration.name);
    if (known !== undefined && isSame(known.configuration, configuration)) return known;
    const factory = this.#deps.factories.get(configuration.settings.kind);
    if (factory === undefined) return `no adapter of kind ${configuration.settings.kind}`;
    try {
      const adapter = factory.create(configuration, this.#deps.allow);
      return { adapter, configuration, running: 0, retired: false };
    } catch (reason) {
      return toIopError(reason).message;
    }
  }

  #retire(instance: AdapterInstance): void {
    instance.retired = true;
    if (instance.running === 0) this.#close(instance);
  }

  #close(instance: AdapterInstance): void {
    instance.adapter.close().catch((reason: unknown) => {
      const { message } = toIopError(reason);
      this.#deps.log.error({ adapter: instance.adapter.name, error: message }, 'an adapter did not close');
    });
  }
}

function isSame(a: AdapterConfiguration, b: AdapterConfiguration): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
