import type { EventSink } from '../adapter.ts';
import type { RuntimeEvent } from '../event.ts';

/** A sink that keeps what it is given and plays a reader with a window. */
export interface RecordingSink extends EventSink {
  readonly events: readonly RuntimeEvent[];
  /** Bytes of raw events and of text so far. */
  readonly sizeBytes: number;
  /** Events that came after `close`: A3 says that there are none. */
  readonly late: readonly RuntimeEvent[];
  /** Calls of `emit` that were answered with false. */
  readonly refusals: number;
  /** The reader has taken this many bytes: room again. */
  grant(sizeBytes: number): void;
  /** The run has ended: whatever comes now is late. */
  close(): void;
  /** All raw bytes and text in order. */
  bytes(): Uint8Array;
  text(): string;
  /** Resolves as soon as `condition` holds, checked at every event; rejects after `timeoutMs`. */
  until(condition: (sink: RecordingSink) => boolean, timeoutMs?: number): Promise<void>;
}

/** @param windowBytes room before `emit` answers false; default: no bound */
export function createRecordingSink(windowBytes = Number.POSITIVE_INFINITY): RecordingSink {
  return new MemorySink(windowBytes);
}

class MemorySink implements RecordingSink {
  readonly events: RuntimeEvent[] = [];
  readonly late: RuntimeEvent[] = [];
  sizeBytes = 0;
  refusals = 0;
  #roomBytes: number;
  #drained: (() => void) | undefined;
  #closed = false;
  #watchers = new Set<() => void>();

  constructor(windowBytes: number) {
    this.#roomBytes = windowBytes;
  }

  emit(event: RuntimeEvent): boolean {
    if (this.#closed) {
      this.late.push(event);
      return true;
    }
    this.events.push(event);
    const size = bytesOf(event).length;
    this.sizeBytes += size;
    this.#roomBytes -= size;
    const hasRoom = this.#roomBytes > 0;
    if (!hasRoom) this.refusals++;
    for (const watcher of this.#watchers) watcher();
    return hasRoom;
  }

  whenDrained(callback: () => void): void {
    if (this.#roomBytes > 0) callback();
    else this.#drained = callback;
  }

  grant(sizeBytes: number): void {
    this.#roomBytes += sizeBytes;
    if (this.#roomBytes <= 0) return;
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  }

  close(): void {
    this.#closed = true;
  }

  bytes(): Uint8Array {
    const whole = new Uint8Array(this.sizeBytes);
    let at = 0;
    for (const event of this.events) {
      const bytes = bytesOf(event);
      whole.set(bytes, at);
      at += bytes.length;
    }
    return whole;
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }

  until(condition: (sink: RecordingSink) => boolean, timeoutMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(check);
        reject(new Error(`not reached within ${timeoutMs} ms; ${this.events.length} events so far`));
      }, timeoutMs);
      const check = () => {
        if (!condition(this)) return;
        clearTimeout(timer);
        this.#watchers.delete(check);
        resolve();
      };
      this.#watchers.add(check);
      check();
    });
  }
}

const nothing = new Uint8Array(0);
const encoder = new TextEncoder();

/** What a caller gets to see of an event, and so what fills its window. */
function bytesOf(event: RuntimeEvent): Uint8Array {
  if (event.kind === 'raw') return event.bytes;
  if (event.kind === 'text' || event.kind === 'reasoning') return encoder.encode(event.text);
  return event.kind === 'tool-call' ? encoder.encode(event.argumentsJson) : nothing;
}
