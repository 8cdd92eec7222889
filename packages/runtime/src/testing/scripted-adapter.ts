import type { RunEnd } from '@iop/domain';
import type { Adapter, EventSink, RetryBoundary, SessionKind } from '../adapter.ts';
import { cancelCauseOf } from '../cancel-cause.ts';
import type { Capabilities } from '../capabilities.ts';
import type { RuntimeEvent } from '../event.ts';
import { type Dialect, dialects, type ExecutionSpec } from '../spec.ts';

/**
 * An adapter whose runs the test plays by hand: it sees every `execute` and says itself when what is
 * emitted and how it ends. For tests of what stands above the port, not of an adapter.
 */
export interface ScriptedAdapter extends Adapter {
  /** Every `execute` so far, oldest first. */
  readonly runs: readonly ScriptedRun[];
  readonly closed: boolean;
  /** What `capabilities` answers from now on. */
  report(capabilities: Capabilities): void;
}

export interface ScriptedRun {
  readonly spec: ExecutionSpec;
  readonly signal: AbortSignal;
  readonly ended: boolean;
  /** What the sink answered. */
  emit(event: RuntimeEvent): boolean;
  /** A raw event of this text in the run's dialect. */
  emitText(text: string): boolean;
  whenDrained(callback: () => void): void;
  end(end: RunEnd): void;
  /** A bug in the adapter: `execute` rejects. */
  crash(reason: Error): void;
}

export interface ScriptedAdapterOptions {
  name?: string;
  kind?: string;
  retry?: RetryBoundary;
  sessions?: SessionKind;
  dialects?: readonly Dialect[];
  targets?: readonly string[];
  /** Resolve `cancelled` at once when the signal fires; default true. False: the test ends it. */
  obeysCancel?: boolean;
}

export function createScriptedAdapter(options: ScriptedAdapterOptions = {}): ScriptedAdapter {
  const obeysCancel = options.obeysCancel ?? true;
  const runs: PlayedRun[] = [];
  let closed = false;
  let capabilities: Capabilities = {
    healthy: true,
    detail: '',
    targets: (options.targets ?? ['echo']).map((name) => ({ name })),
  };
  return {
    name: options.name ?? 'scripted',
    kind: options.kind ?? 'mock',
    retry: options.retry ?? 'before-content',
    sessions: options.sessions ?? 'portable',
    dialects: options.dialects ?? dialects,
    runs,
    get closed() {
      return closed;
    },
    report(next) {
      capabilities = next;
    },
    capabilities: async () => capabilities,
    execute(spec, sink, signal) {
      const run = new PlayedRun(spec, sink, signal);
      runs.push(run);
      if (obeysCancel) run.endWhenCancelled();
      return run.promise;
    },
    close: async () => {
      closed = true;
    },
  };
}

class PlayedRun implements ScriptedRun {
  readonly spec: ExecutionSpec;
  readonly signal: AbortSignal;
  readonly promise: Promise<RunEnd>;
  ended = false;
  #sink: EventSink;
  #settle: { resolve: (end: RunEnd) => void; reject: (reason: Error) => void };

  constructor(spec: ExecutionSpec, sink: EventSink, signal: AbortSignal) {
    this.spec = spec;
    this.signal = signal;
    this.#sink = sink;
    const { promise, resolve, reject } = Promise.withResolvers<RunEnd>();
    this.promise = promise;
    this.#settle = { resolve, reject };
  }

  emit(event: RuntimeEvent): boolean {
    return this.#sink.emit(event);
  }

  emitText(text: string): boolean {
    const bytes = new TextEncoder().encode(text);
    return this.#sink.emit({ kind: 'raw', dialect: this.spec.dialect, bytes, more: false });
  }

  whenDrained(callback: () => void): void {
    this.#sink.whenDrained(callback);
  }

  end(end: RunEnd): void {
    this.ended = true;
    this.#settle.resolve(end);
  }

  crash(reason: Error): void {
    this.ended = true;
    this.#settle.reject(reason);
  }

  endWhenCancelled(): void {
    const stop = () => {
      if (!this.ended) this.end({ kind: 'cancelled', by: cancelCauseOf(this.signal) });
    };
    if (this.signal.aborted) stop();
    else this.signal.addEventListener('abort', stop, { once: true });
  }
}
