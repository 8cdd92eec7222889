import type { Clock } from '@iop/domain';
import type { Exchange } from './exchange.ts';

export interface OutletInit {
  exchange: Exchange;
  clock: Clock;
  /** Header fields of the answer, asked for when its first bytes leave. */
  fields: readonly string[];
  /** The caller's connection has taken this much of the run's window. */
  consumed(sizeBytes: number): void;
}

/**
 * The way of an answer's bytes to the caller: what comes in one tick leaves in one write.
 *
 * U1: window is given back only for what the connection has taken; while it is blocked nothing is, so
 *     a caller that does not read holds at most one window here.
 * U2: what was pushed in one piece leaves in one piece, in the order in which it came.
 */
export class Outlet {
  readonly #init: OutletInit;
  #pending: Uint8Array[] = [];
  /** Window used by what is pending, and by what the connection was given but has not taken. */
  #owedBytes = 0;
  #givenBytes = 0;
  #isScheduled = false;
  #isBlocked = false;
  #hasBegun = false;
  #lastWriteMs = 0;
  readonly #flush = () => this.flush();
  readonly #drained = () => {
    this.#isBlocked = false;
    this.#giveBack();
    this.flush();
  };

  constructor(init: OutletInit) {
    this.#init = init;
  }

  /** Bytes were given to it, if not to the connection. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Time since something was given to the connection. */
  silenceMs(): number {
    return this.#init.clock.now() - this.#lastWriteMs;
  }

  push(bytes: Uint8Array): void {
    this.#hasBegun = true;
    this.#pending.push(bytes);
    this.#schedule();
  }

  /** The run has used this much of its window; it comes back when what was pushed has gone. */
  owe(sizeBytes: number): void {
    this.#owedBytes += sizeBytes;
    this.#schedule();
  }

  /** Everything has been pushed: ends the answer. */
  finish(last?: Uint8Array): void {
    if (last !== undefined) this.push(last);
    const { exchange } = this.#init;
    if (exchange.isOver) return;
    this.#begin();
    exchange.end(this.#pending.length === 0 ? undefined : Buffer.concat(this.#pending));
  }

  flush(): void {
    this.#isScheduled = false;
    const { exchange, clock } = this.#init;
    if (this.#isBlocked || exchange.isOver) return;
    this.#givenBytes += this.#owedBytes;
    this.#owedBytes = 0;
    const pieces = this.#pending;
    if (pieces.length > 0) {
      this.#pending = [];
      this.#begin();
      this.#lastWriteMs = clock.now();
      this.#isBlocked = !exchange.write(pieces, this.#drained);
    }
    if (!this.#isBlocked) this.#giveBack();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isBlocked) return;
    this.#isScheduled = true;
    this.#init.clock.soon(this.#flush);
  }

  #begin(): void {
    if (!this.#init.exchange.hasBegun) this.#init.exchange.writeHead(200, this.#init.fields);
  }

  #giveBack(): void {
    const givenBytes = this.#givenBytes;
    this.#givenBytes = 0;
    if (givenBytes > 0) this.#init.consumed(givenBytes);
  }
}
