import type { RunFailure } from '@iop/domain';
import type { Answer, Settle } from './answer.ts';
import {
  excerpt,
  failureOfErrorObject,
  failureOfStatus,
  keptBodyBytes,
  parseUpstreamError,
} from './upstream-error.ts';
import { fault } from './upstream-fault.ts';

export interface ErrorAnswerInit {
  where: string;
  status: number;
  retryAfterMs: number | undefined;
  settle: Settle;
}

/** An answer that is no content: an error status, or JSON where a stream was asked for. */
export class ErrorAnswer implements Answer {
  readonly #init: ErrorAnswerInit;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isOver = false;

  constructor(init: ErrorAnswerInit) {
    this.#init = init;
  }

  data(chunk: Uint8Array): boolean {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > keptBodyBytes) this.end();
    return true;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const body = Buffer.concat(this.#held);
    this.#init.settle({ kind: 'failed', failure: this.#failure(body) });
  }

  /** What came of it is still the best explanation. */
  broken(_failure: RunFailure): void {
    this.end();
  }

  abandon(): void {
    this.#isOver = true;
  }

  #failure(body: Uint8Array): RunFailure {
    const { where, status, retryAfterMs } = this.#init;
    if (status < 200 || status > 299) {
      return failureOfStatus({ where, status, body, ...(retryAfterMs !== undefined && { retryAfterMs }) });
    }
    const object = parseJson(body);
    if (parseUpstreamError(object) !== undefined) return failureOfErrorObject(where, object, body);
    const message = `${where} answered with JSON where a stream was asked for: ${excerpt(body)}`;
    return fault('unavailable', 'upstream.malformed', message);
  }
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
