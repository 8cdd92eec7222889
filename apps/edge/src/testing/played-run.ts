import type { CancelCause, RunEnd, RunFailure } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { RunCreation, RunIntent, RunReader } from '../core/door.ts';
import type { Cursor } from '../core/run-cursor.ts';
import type { LogEvent } from '../ports/run-log.ts';
import type { ScriptedRun } from './scripted-edge.ts';

/** A run of the scripted Edge: what the test says is logged, and told to its owner and to every cursor. */
export class PlayedRun implements ScriptedRun {
  readonly id: string;
  readonly intent: RunIntent;
  readonly cancels: CancelCause[] = [];
  readonly cancelled: Promise<CancelCause>;
  consumedBytes = 0;
  readonly creation: RunIntent & Partial<RunCreation>;
  readonly log: LogEvent[] = [];
  readonly cursors = new Set<Cursor>();
  ended: RunEnd | undefined;
  readonly #reader: RunReader | undefined;
  readonly #resolveCancelled: (by: CancelCause) => void;

  constructor(intent: RunIntent & Partial<RunCreation>, reader: RunReader | undefined, index: number) {
    this.creation = intent;
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
    this.#note([{ kind: 'attempt', ...place, route: route ?? '', waitedMs: 0, candidates: [] }], 16);
    this.#reader?.dispatched(route === undefined ? place : { ...place, route });
  }

  emit(...events: RuntimeEvent[]): void {
    const sizeBytes = events.reduce((sum, event) => sum + sizeOf(event), 0);
    const firstPos = this.log.length + 1;
    this.#note(events, sizeBytes);
    this.#reader?.events(events, sizeBytes, firstPos);
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
    this.ended = end;
    this.#note([{ kind: 'end', end }], 0);
    this.#reader?.end(end, this.log.length);
  }

  #note(events: readonly LogEvent[], sizeBytes: number): void {
    const firstPos = this.log.length + 1;
    this.log.push(...events);
    for (const cursor of this.cursors) cursor.offer(events, firstPos, sizeBytes);
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
