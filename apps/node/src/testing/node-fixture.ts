import type { RunEnd } from '@iop/domain';
import { createManualClock } from '@iop/link/testing';
import type { RuntimeEvent } from '@iop/runtime';
import {
  createScriptedAdapter,
  type ScriptedAdapter,
  type ScriptedAdapterOptions,
} from '@iop/runtime/testing';
import { createNode, type NodeDeps } from '../core/node.ts';
import type { RunRequest } from '../core/run-request.ts';
import type { AdapterConfiguration, AdapterFactory, Allow } from '../ports/adapter-factory.ts';
import type { Log } from '../ports/log.ts';
import type { RunChannel } from '../ports/run-channel.ts';
import { createMemoryRunStore } from './memory-run-store.ts';

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export const allowAll: Allow = {
  adapters: ['mock', 'vllm'],
  programs: [],
  directories: [],
  hosts: ['127.0.0.1'],
};

/** A channel that keeps what it gets and can be full. */
export class RecordingChannel implements RunChannel {
  readonly events: RuntimeEvent[] = [];
  readonly ends: RunEnd[] = [];
  isFull = false;
  #room: (() => void) | undefined;

  emit(event: RuntimeEvent): boolean {
    this.events.push(event);
    return !this.isFull;
  }

  whenRoom(callback: () => void): void {
    if (this.isFull) this.#room = callback;
    else callback();
  }

  makeRoom(): void {
    this.isFull = false;
    const room = this.#room;
    this.#room = undefined;
    room?.();
  }

  end(end: RunEnd): void {
    this.ends.push(end);
  }

  get ended(): RunEnd {
    if (this.ends.length !== 1) throw new Error(`${this.ends.length} ends instead of one`);
    return this.ends[0] as RunEnd;
  }
}

/** A factory whose adapters are played by the test; `created` holds them in order. */
export function createScriptedFactory(options: ScriptedAdapterOptions = {}) {
  const created: ScriptedAdapter[] = [];
  const factory: AdapterFactory = {
    check: (configuration) => (configuration.name === 'bad' ? ['base_url: is bad'] : []),
    create(configuration) {
      if (configuration.name === 'explodes') throw new Error('cannot be created');
      const adapter = createScriptedAdapter({ ...options, name: configuration.name });
      created.push(adapter);
      return adapter;
    },
  };
  return { factory, created };
}

export function adapterConfiguration(
  name: string,
  values: Partial<AdapterConfiguration> = {},
): AdapterConfiguration {
  return { name, concurrency: 0, targets: [], settings: { kind: 'mock' }, ...values };
}

/** A whole Node core on a clock that stands still, with one adapter `mock` configured. */
export function createNodeFixture(
  options: { adapter?: ScriptedAdapterOptions; deps?: Partial<NodeDeps> } = {},
) {
  const clock = createManualClock();
  const store = createMemoryRunStore();
  const { factory, created } = createScriptedFactory(options.adapter);
  const node = createNode({
    clock,
    log: silentLog,
    store,
    factories: new Map([['mock', factory]]),
    allow: allowAll,
    maxBodyBytes: 1_000_000,
    ...options.deps,
  });
  node.onConfig({
    revision: 1,
    adapters: [adapterConfiguration('mock')],
    limits: { stallAfterMs: 60_000, orphanAfterMs: 10_000, detachedOrphanAfterMs: 600_000 },
  });
  const adapter = created[0] as ScriptedAdapter;
  return {
    node,
    clock,
    store,
    created,
    adapter,
    start: (values?: Partial<RunRequest>) => start(node, values),
  };
}

let count = 0;

function start(node: ReturnType<typeof createNode>, values: Partial<RunRequest> = {}) {
  const channel = new RecordingChannel();
  const request = runRequest(values);
  const outcome = node.onRunRequest(request, channel);
  return { channel, outcome, runId: request.runId };
}

export function runRequest(values: Partial<RunRequest> = {}): RunRequest {
  const body = new TextEncoder().encode('{"messages":[]}');
  return {
    runId: `run_${String(++count).padStart(26, '0')}`,
    attempt: 1,
    runClass: 'attached',
    adapter: 'mock',
    target: 'echo',
    dialect: 'openai.chat',
    stream: true,
    includeUsage: false,
    body,
    bodySizeBytes: body.length,
    deadlineMs: 0,
    door: 'openai',
    ...values,
  };
}
