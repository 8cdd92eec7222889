import type { RunFailure } from '@iop/domain';
import type { EventSink, FactName } from '@iop/runtime';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { encodeEmbeddingList } from '../http-upstream/embedding-body.ts';
import { NumberArrayCutter } from '../http-upstream/number-array-cutter.ts';
import { bodyPieces, sendPieces } from '../http-upstream/send-pieces.ts';
import { excerpt, failureOfErrorObject } from '../http-upstream/upstream-error.ts';
import { toInputUsage } from './answer-end.ts';
import { parseLine } from './answer-line.ts';
import type { EmbedShape } from './embed-request.ts';
import { dimensionsDiffer, malformed, tooLarge } from './ollama-failure.ts';
import { type Fields, isSet } from './problem-list.ts';
import { encodeVector, type Vector } from './vector-text.ts';

/** Of all vectors as they leave: 2,048 of 4,096 numbers in base64 are 45 MB, as text 110. */
const maxVectorBytes = 128 * 1024 * 1024;
const maxRestBytes = 4 * 1024 * 1024;

export interface EmbedAnswerInit {
  where: string;
  shape: EmbedShape;
  /** Of the input, in UTF-16 units: for an estimate. */
  textLength: number;
  saw(fact: FactName): void;
  sink: EventSink;
  settle: Settle;
}

/**
 * The JSON of `/api/embed` as OpenAI's list of embeddings. O12: nothing leaves before all of it has come.
 * Each vector is put into its form as soon as it is there, while the upstream is still sending.
 */
export class EmbedAnswer implements Answer {
  readonly #init: EmbedAnswerInit;
  readonly #taken: (Vector | undefined)[] = [];
  readonly #cutter: NumberArrayCutter;
  #takenBytes = 0;
  #isOver = false;
  #isAbandoned = false;

  constructor(init: EmbedAnswerInit) {
    this.#init = init;
    this.#cutter = new NumberArrayCutter({
      take: (numbers) => this.#take(numbers),
      maxHeldBytes: maxRestBytes,
    });
  }

  data(chunk: Uint8Array): boolean {
    if (this.#isOver) return true;
    const fits = this.#cutter.push(chunk) && this.#takenBytes <= maxVectorBytes;
    if (!fits && !this.#isOver) this.#fail(tooLarge(this.#init.where, 'answer', maxVectorBytes));
    return true;
  }

  end(): void {
    if (this.#isOver) return;
    const { where } = this.#init;
    const rest = this.#cutter.rest();
    const answer = parseLine(rest);
    if (answer === undefined)
      this.#fail(malformed(where, `an answer that is no JSON object: ${excerpt(rest)}`));
    else if (isSet(answer.error)) this.#fail(failureOfErrorObject(where, answer, rest));
    else this.#complete(answer);
  }

  broken(failure: RunFailure): void {
    if (!this.#isOver) this.#fail(failure);
  }

  abandon(): void {
    this.#isOver = true;
    this.#isAbandoned = true;
  }

  #take(numbers: Uint8Array): void {
    const vector = encodeVector(numbers, this.#init.shape.format);
    this.#taken.push(vector);
    this.#takenBytes += vector?.bytes.length ?? 0;
  }

  /** N1 of the cutter: each vector is a number there. Undefined: these are not the vectors that were asked for. */
  #vectorsOf({ embeddings }: Fields): Vector[] | undefined {
    if (!Array.isArray(embeddings) || embeddings.length !== this.#init.shape.count) return undefined;
    const vectors = embeddings.flatMap((place: unknown) => {
      const [ordinal, ...others] = Array.isArray(place) ? place : [];
      const vector = typeof ordinal === 'number' && others.length === 0 ? this.#taken[ordinal] : undefined;
      return vector ?? [];
    });
    return vectors.length === embeddings.length ? vectors : undefined;
  }

  #complete(answer: Fields): void {
    const { where, shape } = this.#init;
    const vectors = this.#vectorsOf(answer);
    if (vectors === undefined) {
      this.#fail(malformed(where, `no ${shape.count} vectors where so many were asked for`));
      return;
    }
    const other = vectors.find(({ dimensions }) => dimensions !== (shape.dimensions ?? dimensions));
    if (other === undefined)
      this.#send(
        vectors.map(({ bytes }) => bytes),
        answer,
      );
    else this.#fail(dimensionsDiffer(where, shape.dimensions, other.dimensions));
  }

  #send(vectors: readonly Uint8Array[], answer: Fields): void {
    this.#isOver = true;
    const { shape, sink, settle, textLength, saw } = this.#init;
    const usage = toInputUsage(answer, textLength);
    saw('embeddings');
    sendPieces({
      pieces: bodyPieces(encodeEmbeddingList({ ...usage, model: shape.model, vectors })),
      dialect: 'openai.embeddings',
      sink,
      isStopped: () => this.#isAbandoned,
      done: () => settle({ kind: 'completed', finish: 'stop', usage }),
    });
  }

  #fail(failure: RunFailure): void {
    this.#isOver = true;
    this.#init.settle({ kind: 'failed', failure });
  }
}
