import type { FinishReason, RunFailure, Usage } from '@iop/domain';
import { excerpt, failureOfErrorObject } from '../http-upstream/upstream-error.ts';
import { AnswerScanner } from './answer-scanner.ts';
import { parseRange, toFinishReason, toUsage } from './answer-values.ts';
import type { RunWatch } from './run-watch.ts';
import { parseSseEvent } from './sse-event.ts';

/**
 * keep: pass the event on. withhold: it is for us only. done: the answer ended properly, nothing
 * counts after it. failed: see `failure`, nothing counts after it.
 */
export type TapVerdict = 'keep' | 'withhold' | 'done' | 'failed';

export interface TapOptions {
  /** The server, for messages. */
  where: string;
  /** How many choices were asked for: so many must finish before the answer is whole. */
  choices: number;
  /** The caller did not ask for usage: the chunk that holds nothing else is not for it. */
  withholdUsage: boolean;
  /** Learns what the target can do. */
  watch?: RunWatch;
}

/**
 * Looks at every event of a chat stream without changing it: is it JSON, does it end the answer, does
 * it report an error or usage. Only the few values of interest are parsed.
 */
export class StreamTap {
  finish: FinishReason = 'other';
  usage: Usage | undefined;
  failure: RunFailure | undefined;
  #isDone = false;
  #finishes = 0;
  readonly #scanner = new AnswerScanner();
  readonly #options: TapOptions;

  constructor(options: TapOptions) {
    this.#options = options;
  }

  /** `[DONE]` came, or every choice has said why it stopped. */
  get isWhole(): boolean {
    return this.#isDone || this.#finishes >= this.#options.choices;
  }

  /** @param start, end one whole event, the blank line included */
  event(bytes: Uint8Array, start: number, end: number): TapVerdict {
    if (startsWithData(bytes, start, end)) {
      const data = start + 5;
      if (this.#scanner.scan(bytes, data, end)) return this.#chunk(bytes, data, end);
    }
    return this.#uncommon(bytes.subarray(start, end));
  }

  #chunk(bytes: Uint8Array, start: number, end: number): TapVerdict {
    const scanner = this.#scanner;
    this.#options.watch?.see(bytes, start, end);
    if (scanner.finishes > 0) {
      this.#finishes += scanner.finishes;
      this.finish = toFinishReason(parseRange(bytes, scanner.finishAt, scanner.finishEnd));
    }
    if (scanner.errorAt !== -1 || scanner.isErrorObject) return this.#error(bytes, start, end);
    if (scanner.usageAt === -1) return 'keep';
    this.usage = toUsage(parseRange(bytes, scanner.usageAt, scanner.usageEnd)) ?? this.usage;
    return scanner.choices === 0 && this.#options.withholdUsage ? 'withhold' : 'keep';
  }

  #error(bytes: Uint8Array, start: number, end: number): TapVerdict {
    const object = parseRange(bytes, start, end);
    this.failure = failureOfErrorObject(this.#options.where, object, bytes.subarray(start, end));
    return 'failed';
  }

  /** `[DONE]`, comments, `event:` lines, data over several lines, and what is no event at all. */
  #uncommon(event: Uint8Array): TapVerdict {
    const { name, data } = parseSseEvent(event);
    if (data === undefined || data.trim() === '') return 'withhold';
    if (data.trim() === '[DONE]') {
      this.#isDone = true;
      return 'done';
    }
    const bytes = Buffer.from(data);
    const isJson = this.#scanner.scan(bytes, 0, bytes.length);
    if (name === 'error') return isJson ? this.#error(bytes, 0, bytes.length) : this.#malformed(event);
    return isJson ? this.#chunk(bytes, 0, bytes.length) : this.#malformed(event);
  }

  #malformed(event: Uint8Array): TapVerdict {
    this.failure = {
      kind: 'unavailable',
      code: 'upstream.malformed',
      message: `${this.#options.where} sent a stream event that is not JSON: ${excerpt(event)}`,
      details: {},
      retryable: true,
    };
    return 'failed';
  }
}

function startsWithData(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start > 5 &&
    bytes[start] === 0x64 &&
    bytes[start + 1] === 0x61 &&
    bytes[start + 2] === 0x74 &&
    bytes[start + 3] === 0x61 &&
    bytes[start + 4] === 0x3a
  );
}
