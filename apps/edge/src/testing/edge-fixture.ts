import type { RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { AttachedRun, RunIntent, RunPlace, RunReader } from '../core/door.ts';
import { createEdge, type Edge } from '../core/edge.ts';
import { createReadiness } from '../core/readiness.ts';
import { defaultHistory, defaultLimits, type EdgeSettings, type Limits } from '../core/settings.ts';
import type { AdapterCapabilities, AdapterSettings } from '../ports/node-link.ts';
import type { RestoredRun } from '../ports/run-orders.ts';
import { createFakeNode, type FakeNode, mockCapabilities } from './fake-node.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createMemoryRunLog, createMemoryRunOrders, type MemoryRunLog } from './memory-run-log.ts';
import { createMemoryKeyStore, createMemoryRunRecords, createPlainSecrets } from './memory-stores.ts';

/** The core with fakes around it, for pure tests. */
export interface EdgeFixture {
  readonly edge: Edge;
  readonly clock: ManualClock;
  readonly records: ReturnType<typeof createMemoryRunRecords>;
  readonly log: MemoryRunLog;
  readonly orders: ReturnType<typeof createMemoryRunOrders>;
  /** A Node links (again), answers everything that makes it ready, and has its runs taken up. */
  linkNode(name: string, options?: LinkOptions): FakeNode;
  /** Only the link: nothing is answered yet. */
  bareLink(name: string, options?: LinkOptions): FakeNode;
  cut(name: string): void;
  epochOf(name: string): number;
  start(over?: Partial<RunIntent>): StartedRun;
}

/** What an earlier process of the Edge has left. */
export interface Before extends Pick<EdgeFixture, 'records' | 'log' | 'orders'> {
  restored: readonly RestoredRun[];
}

export interface LinkOptions {
  instance?: string;
  labels?: Record<string, string>;
  capabilities?: readonly AdapterCapabilities[];
  /** False: the catalogue does not know of it yet. */
  settle?: boolean;
  /** Default: the Node holds nothing. */
  inventory?: Parameters<Edge['nodes']['inventory']>[1];
}

export interface StartedRun extends AttachedRun {
  readonly seen: Seen[];
  readonly text: string;
  readonly end: RunEnd | undefined;
  readonly places: RunPlace[];
}

export type Seen =
  | { kind: 'dispatched'; place: RunPlace }
  | { kind: 'events'; events: readonly RuntimeEvent[]; sizeBytes: number }
  | { kind: 'end'; end: RunEnd };

export const mockAdapter: AdapterSettings = {
  name: 'mock',
  nodes: ['*'],
  concurrency: 0,
  targets: [],
  options: { kind: 'mock' },
};

export function settingsOf(over: Partial<EdgeSettings> = {}, limits: Partial<Limits> = {}): EdgeSettings {
  const base = {
    revision: 1,
    adapters: [mockAdapter],
    models: [],
    limits: { ...defaultLimits, ...limits },
    history: defaultHistory,
  };
  return { ...base, ...over };
}

export function createEdgeFixture(
  settings: EdgeSettings = settingsOf(),
  knownNodes: readonly string[] = [],
  before?: Before,
): EdgeFixture {
  const clock = createManualClock();
  const records = before?.records ?? createMemoryRunRecords();
  const log = before?.log ?? createMemoryRunLog();
  const orders = before?.orders ?? createMemoryRunOrders(records, log);
  let runs = records.saved.length;
  const edge = createEdge({
    clock,
    settings,
    records,
    log,
    orders,
    restored: before?.restored ?? [],
    keys: createMemoryKeyStore(),
    secrets: createPlainSecrets(),
    newRunId: () => `run_${String(++runs).padStart(4, '0')}`,
    knownNodes,
    health: createReadiness([]),
  });
  const nodes = new Map<string, FakeNode>();
  const epochs = new Map<string, number>();

  function bareLink(name: string, options: LinkOptions = {}): FakeNode {
    const node = nodes.get(name) ?? createFakeNode(name);
    nodes.set(name, node);
    const epoch = (epochs.get(name) ?? 0) + 1;
    epochs.set(name, epoch);
    const { instance = 'one', labels = {} } = options;
    edge.nodes.up({ name, instance, epoch, address: '127.0.0.1:1', build: 'test', labels }, node);
    return node;
  }

  return {
    edge,
    clock,
    records,
    log,
    orders,
    bareLink,
    linkNode(name, options = {}) {
      const node = bareLink(name, options);
      const ref = { name, epoch: epochs.get(name) ?? 0 };
      edge.nodes.inventory(ref, options.inventory ?? []);
      const revision = node.askedFor('configure').at(-1)?.config.revision ?? 0;
      edge.nodes.configResult(ref, { revision, problems: [] });
      edge.nodes.capabilities(ref, options.capabilities ?? [mockCapabilities()]);
      if (options.settle !== false) clock.settle();
      return node;
    },
    cut(name) {
      edge.nodes.down({ name, epoch: epochs.get(name) ?? 0 });
      clock.settle();
    },
    epochOf: (name) => epochs.get(name) ?? 0,
    start(over = {}) {
      const reader = createRecordingReader();
      const outcome = edge.start({ ...chat('echo'), ...over }, reader);
      if (outcome.kind !== 'accepted') throw new Error(`refused: ${JSON.stringify(outcome)}`);
      return Object.assign(reader.view, {
        id: outcome.run.id,
        consumed: outcome.run.consumed,
        cancel: outcome.run.cancel,
      });
    },
  };
}

export function chat(model: string): RunIntent {
  return {
    door: 'openai',
    keyId: 'key',
    select: { kind: 'model', model },
    dialect: 'openai.chat',
    body: new TextEncoder().encode('{"model":"echo","messages":[]}'),
    stream: true,
    includeUsage: false,
  };
}

/** Remembers what it was told; fails on anything after the end (E1). */
export function createRecordingReader(): RunReader & { view: Omit<StartedRun, keyof AttachedRun> } {
  const seen: Seen[] = [];
  const push = (each: Seen): void => {
    if (seen.at(-1)?.kind === 'end') throw new Error(`after the end came ${each.kind}`);
    seen.push(each);
  };
  return {
    dispatched: (place) => push({ kind: 'dispatched', place }),
    events: (events, sizeBytes) => push({ kind: 'events', events, sizeBytes }),
    end: (end) => push({ kind: 'end', end }),
    view: {
      seen,
      get text() {
        return seen.map(textOf).join('');
      },
      get end() {
        const last = seen.at(-1);
        return last?.kind === 'end' ? last.end : undefined;
      },
      get places() {
        return seen.flatMap((each) => (each.kind === 'dispatched' ? [each.place] : []));
      },
    },
  };
}

/** The code of a failure, else the kind of the end. */
export function codeOf(end: RunEnd | undefined): string | undefined {
  return end?.kind === 'failed' ? end.failure.code : end?.kind;
}

function textOf(seen: Seen): string {
  if (seen.kind !== 'events') return '';
  return seen.events
    .map((event) => (event.kind === 'raw' ? new TextDecoder().decode(event.bytes) : ''))
    .join('');
}
