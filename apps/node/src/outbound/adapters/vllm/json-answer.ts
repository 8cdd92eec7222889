import type { FinishReason, RunEnd, RunFailure, Usage } from '@iop/domain';
import type { Dialect, EventSink } from '@iop/runtime';
import { type Answer, maxPieceBytes, type Settle } from '../http-upstream/answer.ts';
import { excerpt, failureOfErrorObject } from '../http-upstream/upstream-error.ts';
import { fault } from '../http-upstream/upstream-fault.ts';
import { AnswerScanner } from './answer-scanner.ts';
import { parseRange, toFinishReason, toUsage } from './answer-values.ts';
import { isJson } from './json-scan.ts';

/** A larger answer is passed on as it comes; a smaller one is seen whole before any of it leaves. */
export const maxHeldBytes = 8 * 1024 * 1024;

export interface JsonAnswerInit {
  dialect: Dialect;
  /** The server, for messages. */
  where: string;
  sink: EventSink;
  settle: Settle;
  /** Also arrays and bare values: some answers of `openai.raw` are. */
  takesAnyJson?: boolean;
}

/**
 * One JSON body. It is held until it is whole, so that an answer that was cut or is not JSON leaves
 * no content behind and another Node may still try.
 */
export class JsonAnswer implements Answer {
  readonly #init: JsonAnswerInit;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #lastByte = 0;
  #isOver = false;
  #isAbandoned = false;

  constructor(init: JsonAnswerInit) {
    this.#init = init;
  }

  data(chunk: Uint8Array): boolean {
    if (this.#isOver || chunk.length === 0) return true;
    this.#lastByte = chunk[chunk.length - 1] as number;
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= maxHeldBytes) {
      this.#held.push(chunk);
      return true;
    }
    const bytes = Buffer.concat([...this.#held, chunk]);
    this.#held = [];
    return this.#emitAll(bytes);
  }

  end(): void {
    if (this.#isOver) return;
    if (this.#heldBytes > maxHeldBytes) this.#endUnseen();
    else this.#endHeld();
  }

  #endHeld(): void {
    const body = this.#held.length === 1 ? (this.#held[0] as Uint8Array) : Buffer.concat(this.#held);
    const end = readAnswer(body, this.#init);
    if (end.kind === 'completed') this.#emitThenSettle(body, 0, end);
    else this.#settle(end);
  }

  broken(failure: RunFailure): void {
    if (!this.#isOver) this.#settle({ kind: 'failed', failure });
  }

  abandon(): void {
    this.#isOver = true;
    this.#isAbandoned = true;
  }

  /** HTTP says that it is whole; whether it is JSON was not looked at, only its last byte. */
  #endUnseen(): void {
    // } ] or a line end
    const isClosed = [0x7d, 0x5d, 0x0a].includes(this.#lastByte);
    if (isClosed) this.#settle({ kind: 'completed', finish: 'other' });
    else
      this.#settle({ kind: 'failed', failure: malformed(this.#init.where, 'its last byte closes nothing') });
  }

  #emitAll(bytes: Uint8Array): boolean {
    let room = true;
    for (let at = 0; at < bytes.length; at += maxPieceBytes) room = this.#emit(bytes, at);
    return room;
  }

  #emitThenSettle(body: Uint8Array, from: number, end: RunEnd): void {
    if (this.#isAbandoned) return;
    this.#isOver = true;
    let at = from;
    while (at < body.length) {
      const room = this.#emit(body, at);
      at += maxPieceBytes;
      if (room || at >= body.length) continue;
      const next = at;
      this.#init.sink.whenDrained(() => this.#emitThenSettle(body, next, end));
      return;
    }
    this.#settle(end);
  }

  #emit(bytes: Uint8Array, at: number): boolean {
    const piece = bytes.length <= maxPieceBytes ? bytes : bytes.subarray(at, at + maxPieceBytes);
    return this.#init.sink.emit({ kind: 'raw', dialect: this.#init.dialect, bytes: piece, more: false });
  }

  #settle(end: RunEnd): void {
    this.#isOver = true;
    this.#init.settle(end);
  }
}

function readAnswer(body: Uint8Array, { where, takesAnyJson }: JsonAnswerInit): RunEnd {
  const scanner = new AnswerScanner();
  if (!scanner.scan(body, 0, body.length)) {
    if (takesAnyJson && isJson(body)) return { kind: 'completed', finish: 'stop' };
    const failure = malformed(where, body.length === 0 ? 'it is empty' : excerpt(body));
    return { kind: 'failed', failure };
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

function malformed(where: string, what: string): RunFailure {
  return fault(
    'unavailable',
    'upstream.malformed',
    `${where} sent an answer that is not a JSON object: ${what}`,
  );
}
