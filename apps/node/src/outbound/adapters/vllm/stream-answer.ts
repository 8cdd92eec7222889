import type { RunFailure } from '@iop/domain';
import type { Dialect, EventSink } from '@iop/runtime';
import { type Answer, maxPieceBytes, type Settle } from '../http-upstream/answer.ts';
import { cutFailure, fault } from '../http-upstream/upstream-fault.ts';
import { type EventTaker, SseCutter } from './sse-cutter.ts';
import { StreamTap, type TapOptions, type TapVerdict } from './stream-tap.ts';

/** One event may take so much; beyond it the upstream is broken or hostile. */
export const maxEventBytes = 4 * 1024 * 1024;

export interface StreamAnswerInit {
  dialect: Dialect;
  tap: TapOptions;
  sink: EventSink;
  settle: Settle;
}

/**
 * A stream of server-sent events, passed on as the bytes that came: neighbouring events of one chunk
 * are one raw event, what the tap withholds is left out, nothing is copied.
 */
export class StreamAnswer implements Answer, EventTaker {
  readonly #init: StreamAnswerInit;
  readonly #tap: StreamTap;
  readonly #cutter: SseCutter;
  #verdict: TapVerdict = 'keep';
  #room = true;
  // The events kept so far that lie behind each other in the same bytes.
  #run: Uint8Array | undefined;
  #runStart = 0;
  #runEnd = 0;

  constructor(init: StreamAnswerInit) {
    this.#init = init;
    this.#tap = new StreamTap(init.tap);
    this.#cutter = new SseCutter(this, maxEventBytes);
  }

  data(chunk: Uint8Array): boolean {
    if (this.#isOver()) return true;
    this.#room = true;
    const fits = this.#cutter.push(chunk);
    this.#flush();
    if (this.#verdict === 'done') this.#complete();
    else if (this.#verdict === 'failed') this.#fail(this.#tap.failure as RunFailure);
    else if (!fits) this.#fail(tooLarge(this.#init.tap.where));
    return this.#room;
  }

  event(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isOver()) return;
    const verdict = this.#tap.event(bytes, start, end);
    if (verdict === 'keep') this.#keep(bytes, start, end);
    else if (verdict !== 'withhold') this.#verdict = verdict;
  }

  end(): void {
    if (this.#isOver()) return;
    this.#takeRest(this.#cutter.rest());
    if (this.#tap.isWhole) this.#complete();
    else
      this.#fail(this.#tap.failure ?? cutFailure(this.#init.tap.where, 'it ended without a finish reason'));
  }

  broken(failure: RunFailure): void {
    if (this.#isOver()) return;
    if (this.#tap.isWhole) this.#complete();
    else this.#fail(failure);
  }

  abandon(): void {
    this.#verdict = 'done';
  }

  /** A last event without its blank line counts if it is whole in itself, and is completed. */
  #takeRest(rest: Uint8Array): void {
    if (rest.length === 0) return;
    const whole = Buffer.concat([rest, Buffer.from('\n\n')]);
    const verdict = this.#tap.event(whole, 0, whole.length);
    if (verdict === 'keep') this.#keep(whole, 0, whole.length);
    else if (verdict === 'failed' && this.#tap.failure?.code === 'upstream.malformed') {
      this.#tap.failure = cutFailure(this.#init.tap.where, 'it ended in the middle of an event');
    }
    this.#flush();
  }

  #isOver(): boolean {
    return this.#verdict === 'done' || this.#verdict === 'failed';
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    const joins = this.#run === bytes && this.#runEnd === start && end - this.#runStart <= maxPieceBytes;
    if (!joins) {
      this.#flush();
      this.#run = bytes;
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  #flush(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    let start = this.#runStart;
    for (; this.#runEnd - start > maxPieceBytes; start += maxPieceBytes) {
      this.#emit(run.subarray(start, start + maxPieceBytes), true);
    }
    this.#emit(start === 0 && this.#runEnd === run.length ? run : run.subarray(start, this.#runEnd), false);
  }

  #emit(bytes: Uint8Array, more: boolean): void {
    const { sink, dialect } = this.#init;
    this.#room = sink.emit({ kind: 'raw', dialect, bytes, more });
  }

  #complete(): void {
    this.#verdict = 'done';
    const { finish, usage } = this.#tap;
    this.#init.settle({ kind: 'completed', finish, ...(usage && { usage }) });
  }

  #fail(failure: RunFailure): void {
    this.#verdict = 'failed';
    const { usage } = this.#tap;
    this.#init.settle({ kind: 'failed', failure, ...(usage && { usage }) });
  }
}

function tooLarge(where: string): RunFailure {
  const limit = `${maxEventBytes / 1024 / 1024} MiB`;
  const message = `${where} sent an event of more than ${limit} without an end`;
  return { ...fault('unavailable', 'upstream.event-too-large', message), retryable: false };
}
