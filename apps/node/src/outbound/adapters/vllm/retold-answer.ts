import type { RunFailure } from '@iop/domain';
import type { Answer } from '../http-upstream/answer.ts';
import { eventPieces, sendPieces } from '../http-upstream/send-pieces.ts';
import { answerEvents } from './answer-events.ts';
import { tooLargeAnswer } from './answer-values.ts';
import type { Fields } from './choice-assembly.ts';
import { type JsonAnswerInit, readAnswer } from './json-answer.ts';

const maxBytes = 32 * 1024 * 1024;

/** One JSON body that becomes a stream, for a caller that wants one (`force_stream: false`). */
export class RetoldAnswer implements Answer {
  readonly #init: JsonAnswerInit;
  readonly #includeUsage: boolean;
  #held: Uint8Array[] = [];
  #sizeBytes = 0;
  #isAbandoned = false;

  constructor(init: JsonAnswerInit, includeUsage: boolean) {
    this.#init = init;
    this.#includeUsage = includeUsage;
  }

  data(chunk: Uint8Array): boolean {
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes <= maxBytes) this.#held.push(chunk);
    else this.#init.settle(tooLargeAnswer(this.#init.where, maxBytes));
    return true;
  }

  end(): void {
    if (this.#isAbandoned) return;
    const { sink, dialect, settle, watch } = this.#init;
    const body = Buffer.concat(this.#held);
    this.#held = [];
    const end = readAnswer(body, this.#init);
    if (end.kind !== 'completed') {
      settle(end);
      return;
    }
    watch?.see(body, 0, body.length);
    sendPieces({
      pieces: eventPieces(answerEvents(JSON.parse(body.toString()) as Fields, this.#includeUsage)),
      dialect,
      sink,
      isStopped: () => this.#isAbandoned,
      done: () => settle(end),
    });
  }

  broken(failure: RunFailure): void {
    this.#init.settle({ kind: 'failed', failure });
  }

  abandon(): void {
    this.#isAbandoned = true;
  }
}
