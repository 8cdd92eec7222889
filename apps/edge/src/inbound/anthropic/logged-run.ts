import type { RuntimeEvent } from '@iop/runtime';
import type { AttachedRun, LogReader, RunCursor, RunReader } from '../../core/door.ts';
import { isOwnEvent, type LogEvent } from '../../ports/run-log.ts';

/** Reads a run from its log for somebody who would rather own it. Holds what comes before `begin`. */
export class LoggedRun implements LogReader {
  readonly #reader: RunReader;
  #held: (() => void)[] | undefined = [];

  constructor(reader: RunReader) {
    this.#reader = reader;
  }

  /** The reader knows now which run it is. */
  begin(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const call of held) call();
  }

  push(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void {
    this.#later(() => this.#push(events, firstPos, sizeBytes));
  }

  gap(fromPos: number, toPos: number): void {
    const message = `Events ${fromPos} to ${toPos} of the run are not kept any more.`;
    this.#later(() => this.#fail('event.gap', message));
  }

  broken(detail: string): void {
    this.#later(() => this.#fail('store.unavailable', `The run cannot be read any more: ${detail}.`));
  }

  #later(call: () => void): void {
    if (this.#held === undefined) call();
    else this.#held.push(call);
  }

  #push(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void {
    const content: RuntimeEvent[] = [];
    for (const event of events) {
      if (!isOwnEvent(event)) content.push(event);
      else if (event.kind === 'attempt') this.#reader.dispatched(event);
    }
    this.#reader.events(content, sizeBytes, firstPos);
    const last = events.at(-1);
    if (last?.kind === 'end') this.#reader.end(last.end, firstPos + events.length - 1);
  }

  #fail(code: string, message: string): void {
    const failure = { kind: 'unavailable' as const, code, message, details: {}, retryable: false };
    this.#reader.end({ kind: 'failed', failure }, 0);
  }
}

/** A cursor in the hands of somebody who owns the run as long as it is open. */
export function cursorAsRun(cursor: RunCursor): AttachedRun {
  return {
    id: cursor.runId,
    consumed: (sizeBytes) => cursor.consumed(sizeBytes),
    cancel: () => cursor.close(),
  };
}
