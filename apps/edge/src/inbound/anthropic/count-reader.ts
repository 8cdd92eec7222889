import type { RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { RunPlace, RunReader } from '../../core/door.ts';
import type { Exchange } from '../http/exchange.ts';
import { isObject } from '../http/problem.ts';
import { RunOwner } from '../http/run-owner.ts';

const answerLimitBytes = 64 * 1024;

/** `cannot`: nobody there knows how; `failed`: not this time. */
export type Counted = { kind: 'tokens'; tokens: number } | { kind: 'cannot' } | { kind: 'failed' };

/** Statuses of a server that does not know the path. */
const unknownPath: readonly number[] = [404, 405, 501];

/** Reads what an engine answers on `messages/count_tokens`. */
export class CountReader implements RunReader {
  readonly owner: RunOwner;
  readonly #done: (counted: Counted) => void;
  readonly #exchange: Exchange;
  #parts: Uint8Array[] = [];
  #sizeBytes = 0;

  constructor(exchange: Exchange, done: (counted: Counted) => void) {
    this.owner = new RunOwner(exchange);
    this.#exchange = exchange;
    this.#done = done;
  }

  dispatched(place: RunPlace): void {
    this.#exchange.place = place;
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    this.#sizeBytes += sizeBytes;
    if (this.#sizeBytes > answerLimitBytes) this.#parts = [];
    else for (const event of events) if (event.kind === 'raw') this.#parts.push(event.bytes);
    this.owner.consumed(sizeBytes);
  }

  end(end: RunEnd): void {
    this.owner.ended();
    if (this.owner.hasLeft || this.#exchange.isOver) return;
    if (end.kind === 'completed') this.#done(readCount(Buffer.concat(this.#parts).toString()));
    else this.#done({ kind: isUnknownPath(end) ? 'cannot' : 'failed' });
  }
}

function isUnknownPath(end: RunEnd): boolean {
  return end.kind === 'failed' && unknownPath.includes(end.failure.upstream?.status ?? 0);
}

function readCount(text: string): Counted {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'cannot' };
  }
  const tokens = isObject(value) ? value.input_tokens : undefined;
  return Number.isSafeInteger(tokens) ? { kind: 'tokens', tokens: Number(tokens) } : { kind: 'cannot' };
}
