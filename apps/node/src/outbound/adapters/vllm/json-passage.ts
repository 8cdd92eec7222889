import type { RunEnd } from '@iop/domain';
import type { Dialect, EventSink } from '@iop/runtime';
import { maxPieceBytes } from '../http-upstream/answer.ts';
import { cutFailure } from '../http-upstream/upstream-fault.ts';
import { findUsage, malformedAnswer } from './answer-values.ts';
import type { EmbeddingConverter } from './embedding-converter.ts';

/** So much of both ends is looked at for usage: servers write it first or last. */
const edgeBytes = 4096;

export interface JsonPassageInit {
  dialect: Dialect;
  /** The server, for messages. */
  where: string;
  sink: EventSink;
  /** HTTP says where the body ends, so that a cut can be told from an end. */
  isFramed: boolean;
  /** Changes vectors on their way. */
  converter?: EmbeddingConverter;
}

/**
 * A JSON body that is too large to hold, passed on as it comes. Whether it is JSON is not looked at; HTTP
 * has to say where it ends, and its last byte has to close it.
 */
export class JsonPassage {
  readonly #init: JsonPassageInit;
  #head: Uint8Array | undefined;
  #tail: Uint8Array = new Uint8Array(0);

  constructor(init: JsonPassageInit) {
    this.#init = init;
  }

  /** Why it cannot go on. */
  get problem(): string | undefined {
    return this.#init.converter?.problem;
  }

  push(chunk: Uint8Array): boolean {
    this.#head ??= Buffer.from(chunk.subarray(0, edgeBytes));
    this.#keepTail(chunk);
    const { converter } = this.#init;
    return converter === undefined ? this.#emit(chunk) : this.#emitAll(converter.push(chunk));
  }

  end(): RunEnd {
    const { where, converter, dialect, isFramed } = this.#init;
    if (converter !== undefined) this.#emitAll(converter.rest());
    if (this.problem !== undefined) return malformedAnswer(where, this.problem);
    if (!isFramed) {
      const failure = cutFailure(where, 'it ended with its connection and never said where it would end');
      return { kind: 'failed', failure };
    }
    // } ] or a line end
    if (![0x7d, 0x5d, 0x0a].includes(this.#tail[this.#tail.length - 1] as number)) {
      return malformedAnswer(where, 'its last byte closes nothing');
    }
    const usage = findUsage(this.#tail) ?? findUsage(this.#head ?? this.#tail);
    const finish = dialect === 'openai.embeddings' || dialect === 'openai.raw' ? 'stop' : 'other';
    return { kind: 'completed', finish, ...(usage && { usage }) };
  }

  #keepTail(chunk: Uint8Array): void {
    const before = chunk.length >= edgeBytes ? [] : [this.#tail];
    const both = Buffer.concat([...before, chunk.subarray(-edgeBytes)]);
    this.#tail = both.length > edgeBytes ? both.subarray(-edgeBytes) : both;
  }

  #emitAll(chunks: readonly Uint8Array[]): boolean {
    let room = true;
    for (const chunk of chunks) room = this.#emit(chunk);
    return room;
  }

  #emit(bytes: Uint8Array): boolean {
    const { dialect, sink } = this.#init;
    let room = true;
    for (let at = 0; at < bytes.length; at += maxPieceBytes) {
      const piece = bytes.length <= maxPieceBytes ? bytes : bytes.subarray(at, at + maxPieceBytes);
      room = sink.emit({ kind: 'raw', dialect, bytes: piece, more: false });
    }
    return room;
  }
}
