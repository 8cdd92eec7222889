import type { Clock } from '@iop/domain';
import type { EventSink, RuntimeEvent } from '@iop/runtime';
import type { Log } from '../ports/log.ts';
import type { RunChannel } from '../ports/run-channel.ts';
import type { AdapterInstance } from './adapter-registry.ts';
import type { RunRequest, StopReason } from './run-request.ts';

/** receiving: the body is not whole. executing: the adapter has it. over: it has ended. */
export type AttemptPhase = 'receiving' | 'executing' | 'over';

/**
 * One attempt while it lives here, and the sink that its adapter emits into. `emit` is the hot path:
 * it adds a comparison and a call.
 *
 * T1: nothing reaches the channel after the end (a late emit of an adapter is dropped).
 * T2: the first stop reason counts.
 */
export class Attempt implements EventSink {
  readonly request: RunRequest;
  readonly channel: RunChannel;
  phase: AttemptPhase = 'receiving';
  stopReason: StopReason | undefined;
  /** Set while it executes. */
  instance: AdapterInstance | undefined;
  /** When the window became full; undefined while there is room. */
  fullSinceMs: number | undefined;
  cancelDeadline: (() => void) | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #abort = new AbortController();
  #drained: (() => void) | undefined;

  constructor(request: RunRequest, channel: RunChannel, { clock, log }: { clock: Clock; log: Log }) {
    this.request = request;
    this.channel = channel;
    this.#clock = clock;
    this.#log = log;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(reason: StopReason): void {
    if (this.stopReason !== undefined || this.phase === 'over') return;
    this.stopReason = reason;
    // A failure has no word of its own among the causes; the end is settled by `stopReason` anyway.
    this.#abort.abort(reason.kind === 'cancel' ? reason.by : 'superseded');
  }

  emit(event: RuntimeEvent): boolean {
    if (this.phase === 'over') return true;
    if (event.kind === 'log' && event.stream === 'system') this.#say(event.bytes);
    if (this.channel.emit(event)) return true;
    this.fullSinceMs ??= this.#clock.now();
    return false;
  }

  whenDrained(callback: () => void): void {
    this.#drained = callback;
    this.channel.whenRoom(this.#onRoom);
  }

  /** What an adapter itself has to say of a run no door shows to its caller: whoever runs the Node is to know. */
  #say(bytes: Uint8Array): void {
    const { runId: run, adapter, target } = this.request;
    const said = new TextDecoder().decode(bytes).trimEnd();
    this.#log.warn({ run, adapter, target, said }, 'an adapter says of a run');
  }

  readonly #onRoom = (): void => {
    this.fullSinceMs = undefined;
    const drained = this.#drained;
    this.#drained = undefined;
    if (this.phase !== 'over') drained?.();
  };
}
