import type { RunEnd } from '@iop/domain';
import type { Capabilities } from './capabilities.ts';
import type { RuntimeEvent } from './event.ts';
import type { Dialect, ExecutionSpec } from './spec.ts';

/** Until when the Edge may try a failed run on another Node. */
export type RetryBoundary = 'before-content' | 'before-start' | 'never';

/** portable: a conversation may move to another Node. pinned: its state lives on this one. */
export type SessionKind = 'portable' | 'pinned';

/**
 * A way of executing. One instance serves one configuration; a changed configuration makes a new
 * instance, and a running run keeps the one it began with.
 *
 * Every adapter passes `adapterContract` from `@iop/runtime/testing`.
 */
export interface Adapter {
  /** The instance's name in `edge.yaml`, for example `vllm` or `vllm-big`. */
  readonly name: string;
  /** What it is: `mock`, `vllm`, `ollama`, `cli`. */
  readonly kind: string;
  readonly retry: RetryBoundary;
  readonly sessions: SessionKind;
  /** Request dialects that `execute` takes; anything else is refused before it starts. */
  readonly dialects: readonly Dialect[];

  /**
   * What can be executed now. Must not load, start or run anything; a busy upstream is not an
   * unhealthy one. Never throws: an upstream that is away is `healthy: false` with the reason.
   */
  capabilities(signal: AbortSignal): Promise<Capabilities>;

  /**
   * Executes `spec`, emitting into `sink`, and resolves with the one end.
   *
   * A1: never rejects for what an upstream does; a rejection is a bug and ends the run as `internal`.
   * A2: when `signal` fires (its reason is a `CancelCause`), the upstream connection is closed (or the child signalled) at once, and
   *     the promise resolves `cancelled` after the work has stopped.
   * A3: nothing is emitted after it has resolved.
   * A4: after `emit` returned false no more is read from the source until `whenDrained` calls;
   *     what was already read may still be emitted (at most one read of the source).
   * A5: an upstream that was cut, stalled or garbled never resolves `completed`.
   * A6: with `retry: 'before-start'`, `failure.retryable` is true only when nothing was started.
   */
  execute(spec: ExecutionSpec, sink: EventSink, signal: AbortSignal): Promise<RunEnd>;

  /** Frees what the instance holds. Called once, after its last run ended. */
  close(): Promise<void>;
}

export interface EventSink {
  /** Takes the event. False: the window is full, pause the source until `whenDrained` calls. */
  emit(event: RuntimeEvent): boolean;
  /** Calls once, as soon as there is room again; at once (before returning) if there is room now. */
  whenDrained(callback: () => void): void;
}
