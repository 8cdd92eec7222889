import { toIopError } from '@iop/domain';
import type { LogEvent, LogPage } from '../ports/run-log.ts';
import type { LogReader, RunCursor } from './door.ts';
import { logEventBytes } from './log-event-bytes.ts';

/** How far a reader may be behind what it was given. */
export const cursorWindowBytes = 256 * 1024;
const pageBytes = 64 * 1024;

/** The log that a cursor reads: of a live run, or of one that has ended. */
export interface CursorSource {
  readonly runId: string;
  /** Of the newest event that may be shown. */
  shownPos(): number;
  /** What comes after that pos, or what is left of it. May be known at once. */
  read(afterPos: number, limitBytes: number): Promise<LogPage> | LogPage;
  closed(cursor: Cursor): void;
}

export interface CursorInit {
  source: CursorSource;
  reader: LogReader;
  afterPos: number;
  owns: boolean;
}

/**
 * A reader's place in the log of a run.
 *
 * K1: every pos after the first is pushed once and in order, or named by one `gap`.
 * K2: at the newest event it is pushed to; whoever has used its window up is left behind, costs nothing but its
 *     window, and reads the log from there as soon as it has room.
 * K3: after the end, `broken` or `close` nothing is told any more.
 */
export class Cursor implements RunCursor {
  readonly owns: boolean;
  readonly #source: CursorSource;
  readonly #reader: LogReader;
  #pos: number;
  #roomBytes = cursorWindowBytes;
  #isStarted = false;
  #isReading = false;
  #isClosed = false;

  constructor({ source, reader, afterPos, owns }: CursorInit) {
    this.#source = source;
    this.#reader = reader;
    this.#pos = afterPos;
    this.owns = owns;
  }

  get runId(): string {
    return this.#source.runId;
  }

  start(): void {
    this.#isStarted = true;
    this.pump();
  }

  /** New at the end of the log. */
  offer(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void {
    const isNext = firstPos === this.#pos + 1;
    if (!this.#isStarted || this.#isReading || this.#roomBytes <= 0) return;
    if (isNext) this.#push(events, firstPos, sizeBytes);
    else this.pump();
  }

  consumed(sizeBytes: number): void {
    const wasFull = this.#roomBytes <= 0;
    this.#roomBytes += sizeBytes;
    if (wasFull) this.pump();
  }

  /** Reads on until it has caught up or used its window up. */
  pump(): void {
    while (!this.#isReading && this.#isBehind()) {
      const page = this.#source.read(this.#pos, Math.min(pageBytes, this.#roomBytes));
      if (page instanceof Promise) void this.#await(page);
      else this.#take(page);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#source.closed(this);
  }

  #isBehind(): boolean {
    return this.#isStarted && !this.#isClosed && this.#roomBytes > 0 && this.#pos < this.#source.shownPos();
  }

  async #await(reading: Promise<LogPage>): Promise<void> {
    this.#isReading = true;
    try {
      const page = await reading;
      this.#isReading = false;
      if (this.#isClosed) return;
      this.#take(page);
      this.pump();
    } catch (reason) {
      this.#isReading = false;
      this.#break(toIopError(reason).message);
    }
  }

  #take({ firstPos, events }: LogPage): void {
    const lastPos = this.#source.shownPos();
    // nothing is left of what was there when it was asked for
    if (events.length === 0) this.#skipTo(lastPos + 1);
    if (events.length === 0 || this.#isClosed) return;
    if (firstPos > this.#pos + 1) this.#skipTo(firstPos);
    const shown = events.slice(0, Math.max(0, lastPos - firstPos + 1));
    if (shown.length > 0 && !this.#isClosed) this.#push(shown, firstPos, sizeOf(shown));
  }

  #skipTo(pos: number): void {
    const fromPos = this.#pos + 1;
    this.#pos = pos - 1;
    this.#reader.gap(fromPos, pos - 1);
  }

  #push(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void {
    this.#pos = firstPos + events.length - 1;
    this.#roomBytes -= sizeBytes;
    const isLast = events.at(-1)?.kind === 'end';
    if (isLast) this.close();
    this.#reader.push(events, firstPos, sizeBytes);
  }

  #break(detail: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#reader.broken(detail);
  }
}

function sizeOf(events: readonly LogEvent[]): number {
  let sizeBytes = 0;
  for (const event of events) sizeBytes += logEventBytes(event);
  return sizeBytes;
}
