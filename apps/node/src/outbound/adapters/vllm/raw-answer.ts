import type { RunFailure } from '@iop/domain';
import { type Answer, maxPieceBytes, type Settle } from '../http-upstream/answer.ts';
import { cutFailure } from '../http-upstream/upstream-fault.ts';
import type { HeadSink } from './head-sink.ts';

export interface RawAnswerInit {
  /** The server, for messages. */
  where: string;
  /** HTTP says where the body ends, so that a cut can be told from an end. */
  isFramed: boolean;
  sink: HeadSink;
  settle: Settle;
}

/**
 * A body whose shape nobody here knows: audio, a stream of events of another dialect. It is passed on as
 * it comes; only HTTP can say whether it is whole, so one that ends with its connection never is (A5).
 */
export class RawAnswer implements Answer {
  readonly #init: RawAnswerInit;
  #isOver = false;

  constructor(init: RawAnswerInit) {
    this.#init = init;
  }

  data(chunk: Uint8Array): boolean {
    let room = true;
    for (let at = 0; at < chunk.length && !this.#isOver; at += maxPieceBytes) {
      const bytes = chunk.length <= maxPieceBytes ? chunk : chunk.subarray(at, at + maxPieceBytes);
      room = this.#init.sink.emit({ kind: 'raw', dialect: 'openai.raw', bytes, more: false });
    }
    return room;
  }

  end(): void {
    if (this.#isOver) return;
    const { isFramed, where, sink, settle } = this.#init;
    if (!isFramed) {
      this.broken(cutFailure(where, 'it ended with its connection and never said where it would end'));
      return;
    }
    this.#isOver = true;
    sink.begin();
    settle({ kind: 'completed', finish: 'stop' });
  }

  broken(failure: RunFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#init.settle({ kind: 'failed', failure });
  }

  abandon(): void {
    this.#isOver = true;
  }
}
