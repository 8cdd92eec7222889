import type { RunEnd, RunFailure } from '@iop/domain';
import type { EventSink, RuntimeEvent } from '@iop/runtime';
import type { Answer } from '../http-upstream/answer.ts';
import { bodyPieces, sendPieces } from '../http-upstream/send-pieces.ts';
import { AnswerAssembly } from './answer-assembly.ts';
import { tooLargeAnswer } from './answer-values.ts';
import type { Fields } from './choice-assembly.ts';
import { type EventTaker, SseCutter } from './sse-cutter.ts';
import { parseSseEvent } from './sse-event.ts';
import { maxEventBytes, StreamAnswer, type StreamAnswerInit } from './stream-answer.ts';

/** As a stream; the whole answer is several times smaller. */
const maxStreamBytes = 64 * 1024 * 1024;

/**
 * A stream that becomes one JSON body, for a caller that wants no stream (`force_stream: true`). Nothing
 * leaves before it is whole, so that another Node may still try.
 */
export class AssembledAnswer implements Answer, EventSink, EventTaker {
  readonly #init: StreamAnswerInit;
  readonly #stream: StreamAnswer;
  readonly #cutter = new SseCutter(this, maxEventBytes);
  readonly #assembly = new AnswerAssembly();
  #sizeBytes = 0;
  #isAbandoned = false;

  constructor(init: StreamAnswerInit) {
    this.#init = init;
    this.#stream = new StreamAnswer({ ...init, sink: this, settle: (end) => this.#ended(end) });
  }

  data(chunk: Uint8Array): boolean {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > maxStreamBytes)
      this.#init.settle(tooLargeAnswer(this.#init.tap.where, maxStreamBytes));
    else this.#stream.data(chunk);
    return true;
  }

  end(): void {
    this.#stream.end();
  }

  broken(failure: RunFailure): void {
    this.#stream.broken(failure);
  }

  abandon(): void {
    this.#isAbandoned = true;
    this.#stream.abandon();
  }

  emit(event: RuntimeEvent): boolean {
    if (event.kind === 'raw') this.#cutter.push(event.bytes);
    return true;
  }

  whenDrained(callback: () => void): void {
    callback();
  }

  event(bytes: Uint8Array, start: number, end: number): void {
    const { data } = parseSseEvent(bytes.subarray(start, end));
    // The tap has seen that it is a JSON object.
    if (data !== undefined) this.#assembly.add(JSON.parse(data) as Fields);
  }

  #ended(end: RunEnd): void {
    const { sink, dialect, settle } = this.#init;
    if (end.kind !== 'completed') {
      settle(end);
      return;
    }
    sendPieces({
      pieces: bodyPieces([Buffer.from(JSON.stringify(this.#assembly.whole()))]),
      dialect,
      sink,
      isStopped: () => this.#isAbandoned,
      done: () => settle(end),
    });
  }
}
