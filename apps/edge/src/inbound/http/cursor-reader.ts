import type { RuntimeEvent } from '@iop/runtime';
import type { AttachedRun, LogReader, RunCursor, RunReader } from '../../core/door.ts';
import { isOwnEvent, type LogEvent, type OwnEvent } from '../../ports/run-log.ts';

/**
 * Lets a reader of an attached run read the log of any run: it is told the same as if it had been there from the
 * beginning. What is gone of the log, or cannot be read, is told as an end that failed.
 */
export class CursorReader implements LogReader {
  readonly #reader: RunReader;
  #cursor: RunCursor | undefined;
  #isOver = false;

  constructor(reader: RunReader) {
    this.#reader = reader;
  }

  /** The run in the hands of its reader, which may leave it. */
  attach(cursor: RunCursor): AttachedRun {
    this.#cursor = cursor;
    return {
      id: cursor.runId,
      consumed: (sizeBytes) => cursor.consumed(sizeBytes),
      cancel: () => cursor.close(),
    };
  }

  push(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void {
    const said: RuntimeEvent[] = [];
    for (const event of events) if (!isOwnEvent(event)) said.push(event);
    const hasOwn = said.length < events.length;
    if (hasOwn) this.#tellPlaces(events);
    if (said.length > 0) this.#reader.events(said, sizeBytes, firstPos);
    else this.#cursor?.consumed(sizeBytes);
    const last = events.at(-1);
    if (last?.kind === 'end') this.#end(last, firstPos + events.length - 1);
  }

  gap(fromPos: number, toPos: number): void {
    const message = `What this run said from ${fromPos} to ${toPos} is not kept any more; ask for it anew.`;
    this.#fail({ kind: 'not-found', code: 'run.content-gone', message });
  }

  broken(detail: string): void {
    this.#fail({
      kind: 'unavailable',
      code: 'store.unavailable',
      message: `The log cannot be read: ${detail}.`,
    });
  }

  #tellPlaces(events: readonly LogEvent[]): void {
    for (const event of events) {
      if (event.kind !== 'attempt') continue;
      const { node, adapter, target, attempt, route } = event;
      this.#reader.dispatched({ node, adapter, target, attempt, route });
    }
  }

  #fail(failure: { kind: 'not-found' | 'unavailable'; code: string; message: string }): void {
    this.#cursor?.close();
    this.#end(
      { kind: 'end', end: { kind: 'failed', failure: { ...failure, details: {}, retryable: false } } },
      0,
    );
  }

  #end({ end }: Extract<OwnEvent, { kind: 'end' }>, pos: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.end(end, pos);
  }
}
