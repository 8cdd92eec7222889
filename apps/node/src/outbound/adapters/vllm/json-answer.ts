import type { FinishReason, RunEnd, RunFailure, Usage } from '@iop/domain';
import type { Answer, Settle } from '../http-upstream/answer.ts';
import { bodyPieces, sendPieces } from '../http-upstream/send-pieces.ts';
import { excerpt, failureOfErrorObject } from '../http-upstream/upstream-error.ts';
import { AnswerScanner } from './answer-scanner.ts';
import { malformedAnswer, parseRange, toFinishReason, toUsage } from './answer-values.ts';
import { JsonPassage, type JsonPassageInit } from './json-passage.ts';
import { isJson } from './json-scan.ts';
import type { RunWatch } from './run-watch.ts';

/** Unless it is said otherwise. */
const defaultHeldBytes = 8 * 1024 * 1024;

export interface JsonAnswerInit extends JsonPassageInit {
  settle: Settle;
  /** Also arrays and bare values: some answers of `openai.raw` are. */
  takesAnyJson?: boolean;
  /** Learns what the target can do, if the answer is held. */
  watch?: RunWatch;
  /** A larger body is passed on as it comes; a smaller one is seen whole before any of it leaves. */
  maxHeldBytes?: number;
}

/**
 * One JSON body. It is held until it is whole, so that an answer that was cut or is not JSON leaves
 * no content behind and another Node may still try.
 */
export class JsonAnswer implements Answer {
  readonly #init: JsonAnswerInit;
  readonly #maxHeldBytes: number;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #passage: JsonPassage | undefined;
  #isOver = false;
  #isAbandoned = false;

  constructor(init: JsonAnswerInit) {
    this.#init = init;
    this.#maxHeldBytes = init.maxHeldBytes ?? defaultHeldBytes;
  }

  data(chunk: Uint8Array): boolean {
    if (this.#isOver || chunk.length === 0) return true;
    if (this.#passage !== undefined) return this.#pass(this.#passage, chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= this.#maxHeldBytes) return true;
    const held = Buffer.concat(this.#held);
    this.#held = [];
    this.#passage = new JsonPassage(this.#init);
    return this.#pass(this.#passage, held);
  }

  end(): void {
    if (this.#isOver) return;
    if (this.#passage !== undefined) this.#settle(this.#passage.end());
    else this.#endHeld();
  }

  #endHeld(): void {
    const body = this.#held.length === 1 ? (this.#held[0] as Uint8Array) : Buffer.concat(this.#held);
    const end = readAnswer(body, this.#init);
    if (end.kind !== 'completed') {
      this.#settle(end);
      return;
    }
    const { converter, where, watch } = this.#init;
    watch?.see(body, 0, body.length);
    const out =
      converter === undefined ? body : Buffer.concat([...converter.push(body), ...converter.rest()]);
    if (converter?.problem === undefined) this.#emitThenSettle(out, end);
    else this.#settle(malformedAnswer(where, converter.problem));
  }

  #pass(passage: JsonPassage, chunk: Uint8Array): boolean {
    const room = passage.push(chunk);
    if (passage.problem !== undefined) this.#settle(malformedAnswer(this.#init.where, passage.problem));
    return room;
  }

  broken(failure: RunFailure): void {
    if (!this.#isOver) this.#settle({ kind: 'failed', failure });
  }

  abandon(): void {
    this.#isOver = true;
    this.#isAbandoned = true;
  }

  #emitThenSettle(body: Uint8Array, end: RunEnd): void {
    this.#isOver = true;
    const { dialect, sink } = this.#init;
    sendPieces({
      pieces: bodyPieces([body]),
      dialect,
      sink,
      isStopped: () => this.#isAbandoned,
      done: () => this.#settle(end),
    });
  }

  #settle(end: RunEnd): void {
    this.#isOver = true;
    this.#init.settle(end);
  }
}

/** Is it whole, and what end does it tell? Nothing of it is kept. */
export function readAnswer(body: Uint8Array, { where, takesAnyJson }: JsonAnswerInit): RunEnd {
  const scanner = new AnswerScanner();
  if (!scanner.scan(body, 0, body.length)) {
    if (takesAnyJson && isJson(body)) return { kind: 'completed', finish: 'stop' };
    return malformedAnswer(where, body.length === 0 ? 'it is empty' : excerpt(body));
  }
  if (scanner.errorAt !== -1 || scanner.isErrorObject) {
    const failure = failureOfErrorObject(where, parseRange(body, 0, body.length), body);
    return { kind: 'failed', failure };
  }
  const usage: Usage | undefined =
    scanner.usageAt === -1 ? undefined : toUsage(parseRange(body, scanner.usageAt, scanner.usageEnd));
  // Embeddings have no choices and so no reason: they are whole when they are there.
  const finish: FinishReason =
    scanner.finishAt === -1 ? 'stop' : toFinishReason(parseRange(body, scanner.finishAt, scanner.finishEnd));
  return { kind: 'completed', finish, ...(usage && { usage }) };
}
