import type { CancelCause, RunEnd, RunFailure } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { EdgeDoor, KeyCheck, ModelInfo, RunIntent, RunReader, StartOutcome } from '../core/door.ts';

export const goodKey = 'iop_testtest_good';

/** A run as a door sees it, played by a test. */
export interface ScriptedRun {
  readonly id: string;
  readonly intent: RunIntent;
  readonly cancels: readonly CancelCause[];
  readonly consumedBytes: number;
  /** Resolves when the door has cancelled it. */
  readonly cancelled: Promise<CancelCause>;
  dispatch(node?: string, route?: string): void;
  emit(...events: RuntimeEvent[]): void;
  /** Raw bytes of the dialect that was asked for. */
  raw(bytes: string | Uint8Array, more?: boolean): void;
  /** One server-sent event with this value. */
  chunk(value: unknown): void;
  complete(end?: Partial<Extract<RunEnd, { kind: 'completed' }>>): void;
  fail(failure?: Partial<RunFailure>): void;
  end(end: RunEnd): void;
}

export interface ScriptedEdge extends EdgeDoor {
  readonly runs: readonly ScriptedRun[];
  /** The n-th run, from 0, as soon as it has started. */
  run(index: number): Promise<ScriptedRun>;
  /** Plays every run right after it was accepted. */
  script: ((run: ScriptedRun) => void) | undefined;
  /** Instead of accepting. */
  refusal: Exclude<StartOutcome, { kind: 'accepted' }> | undefined;
  /** Instead of looking the key up. */
  keyCheck: KeyCheck | undefined;
  ready: boolean;
  list: ModelInfo[];
}

/** An Edge without Nodes: every run does what the test says. */
export function createScriptedEdge(): ScriptedEdge {
  const runs: PlayedRun[] = [];
  const waiting: (() => void)[] = [];
  const edge: ScriptedEdge = {
    runs,
    script: undefined,
    refusal: undefined,
    keyCheck: undefined,
    ready: true,
    list: [
      { name: 'qwen', adapters: ['vllm'], createdS: 1_700_000_000, available: true },
      { name: 'mock/echo', adapters: ['mock'], createdS: 1_700_000_001, available: true },
    ],
    start(intent, reader) {
      if (edge.refusal !== undefined) return edge.refusal;
      const run = new PlayedRun(intent, reader, runs.length);
      runs.push(run);
      for (const wake of waiting.splice(0)) wake();
      if (edge.script !== undefined) queueMicrotask(() => edge.script?.(run));
      return { kind: 'accepted', run };
    },
    async run(index) {
      for (;;) {
        const run = runs[index];
        if (run !== undefined) return run;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    models: () => edge.list,
    model: (name) => edge.list.find((model) => model.name === name),
    checkKey: (presented) => edge.keyCheck ?? checkKey(presented),
    readiness: () => ({
      ready: edge.ready,
      detail: edge.ready ? 'all is well' : 'the store does not answer',
    }),
  };
  return edge;
}

function checkKey(presented: string | undefined): KeyCheck {
  if (presented === undefined) return { kind: 'missing' };
  if (presented === goodKey) return { kind: 'valid', keyId: 'testtest' };
  return presented.startsWith('iop_revoked_') ? { kind: 'revoked', keyId: 'revoked' } : { kind: 'unknown' };
}

class PlayedRun implements ScriptedRun {
  readonly id: string;
  readonly intent: RunIntent;
  readonly cancels: CancelCause[] = [];
  readonly cancelled: Promise<CancelCause>;
  consumedBytes = 0;
  readonly #reader: RunReader;
  readonly #resolveCancelled: (by: CancelCause) => void;

  constructor(intent: RunIntent, reader: RunReader, index: number) {
    this.id = `run_${String(index).padStart(26, '0')}`;
    this.intent = intent;
    this.#reader = reader;
    const { promise, resolve } = Promise.withResolvers<CancelCause>();
    this.cancelled = promise;
    this.#resolveCancelled = resolve;
  }

  consumed(sizeBytes: number): void {
    this.consumedBytes += sizeBytes;
  }

  cancel(by: CancelCause): void {
    this.cancels.push(by);
    this.#resolveCancelled(by);
  }

  dispatch(node = 'gpu-1', route?: string): void {
    const place = { node, adapter: 'vllm', target: 'Qwen/Qwen3-8B', attempt: 1 };
    this.#reader.dispatched(route === undefined ? place : { ...place, route });
  }

  emit(...events: RuntimeEvent[]): void {
    this.#reader.events(
      events,
      events.reduce((sum, event) => sum + sizeOf(event), 0),
    );
  }

  raw(bytes: string | Uint8Array, more = false): void {
    this.emit({ kind: 'raw', dialect: this.intent.dialect, bytes: Buffer.from(bytes), more });
  }

  chunk(value: unknown): void {
    this.raw(`data: ${JSON.stringify(value)}\n\n`);
  }

  complete(end: Partial<Extract<RunEnd, { kind: 'completed' }>> = {}): void {
    this.end({ kind: 'completed', finish: 'stop', ...end });
  }

  fail(failure: Partial<RunFailure> = {}): void {
    this.end({ kind: 'failed', failure: { ...brokenNode, ...failure } });
  }

  end(end: RunEnd): void {
    this.#reader.end(end);
  }
}

const brokenNode: RunFailure = {
  kind: 'unavailable',
  code: 'node.lost',
  message: 'The Node gpu-1 was lost.',
  details: {},
  retryable: false,
};

function sizeOf(event: RuntimeEvent): number {
  if (event.kind === 'raw') return event.bytes.length;
  return event.kind === 'text' || event.kind === 'reasoning' ? event.text.length : 32;
}
