import type { Clock, RunEnd, RunFailure } from '@iop/domain';
import { cancelCauseOf, type EventSink } from '@iop/runtime';
import type { Dispatcher } from 'undici';
import type { Answer, Settle } from './answer.ts';
import type { SilenceWatch, Watched } from './silence-watch.ts';
import type { Headers } from './upstream-error.ts';
import { type CallPhase, codeOf, failureOfConnection, silenceFailure } from './upstream-fault.ts';
import type { PooledClient, UpstreamPool } from './upstream-pool.ts';

export interface CallDeps {
  pool: UpstreamPool;
  clock: Clock;
  watch: SilenceWatch;
  /** The server, for messages. */
  where: string;
}

export interface CallInit {
  /** Path, headers as a flat list, body. */
  request: { path: string; headers: string[]; body: Uint8Array };
  sink: EventSink;
  signal: AbortSignal;
  /** Chooses the reader of an answer by its head. */
  answerFor(status: number, headers: Headers, settle: Settle): Answer;
}

/**
 * One request to the upstream and the reading of its answer.
 *
 * U1: settles once; afterwards nothing is emitted.
 * U2: the connection is closed in the same tick as the signal fires.
 * U3: the request is sent a second time only if its connection had carried an answer before and was
 *     closed before the first byte of this one: it had gone stale and the server never read the request.
 */
export class UpstreamCall implements Dispatcher.DispatchHandler, Watched {
  phase: CallPhase = 'connecting';
  heardAtMs = 0;
  paused = false;
  seat = -1;
  readonly #deps: CallDeps;
  readonly #init: CallInit;
  readonly #end = Promise.withResolvers<RunEnd>();
  #pooled: PooledClient | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #answer: Answer | undefined;
  #isSettled = false;
  #isSecondTry = false;

  constructor(deps: CallDeps, init: CallInit) {
    this.#deps = deps;
    this.#init = init;
  }

  run(): Promise<RunEnd> {
    const { signal } = this.#init;
    if (signal.aborted) return Promise.resolve({ kind: 'cancelled', by: cancelCauseOf(signal) });
    signal.addEventListener('abort', this.#cancel, { once: true });
    this.#send(this.#deps.pool.acquire());
    return this.#end.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.phase = 'waiting';
    this.heardAtMs = this.#deps.clock.now();
    this.#deps.watch.add(this);
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    if (status < 200) return;
    this.heardAtMs = this.#deps.clock.now();
    const answer = this.#init.answerFor(status, headers, this.#settle);
    if (!this.#isSettled) this.#answer = answer;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.phase = 'answering';
    this.heardAtMs = this.#deps.clock.now();
    if (this.#isSettled) return;
    if (this.#answer?.data(chunk) !== false || this.#isSettled) return;
    this.paused = true;
    controller.pause();
    this.#init.sink.whenDrained(this.#resume);
  }

  onResponseEnd(): void {
    this.#deps.watch.remove(this);
    const pooled = this.#pooled;
    this.#pooled = undefined;
    if (pooled !== undefined) this.#deps.pool.release(pooled);
    this.#answer?.end();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#deps.watch.remove(this);
    const wentStale = this.#isStale(error);
    this.#discard();
    if (this.#isSettled) return;
    const phase = this.#answer === undefined ? this.phase : 'answering';
    if (wentStale) this.#sendAgain();
    else this.#break(failureOfConnection(error, this.#deps.where, phase));
  }

  silent(silentMs: number): void {
    this.#break(silenceFailure(this.#deps.where, silentMs, this.phase));
    this.#discard();
  }

  #send(pooled: PooledClient): void {
    this.#pooled = pooled;
    const { path, headers, body } = this.#init.request;
    pooled.client.dispatch({ path, method: 'POST', headers, body }, this);
  }

  #sendAgain(): void {
    this.#isSecondTry = true;
    this.phase = 'connecting';
    this.#send(this.#deps.pool.acquireFresh());
  }

  #isStale(error: Error): boolean {
    const wasUsed = (this.#pooled?.served ?? 0) > 0;
    const nothingCame = this.phase === 'waiting' && this.#answer === undefined;
    return wasUsed && nothingCame && !this.#isSecondTry && staleCodes.has(codeOf(error));
  }

  #break(failure: RunFailure): void {
    if (this.#answer !== undefined) this.#answer.broken(failure);
    else this.#settle({ kind: 'failed', failure });
  }

  readonly #settle = (end: RunEnd): void => {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#init.signal.removeEventListener('abort', this.#cancel);
    this.#answer?.abandon();
    // A whole answer leaves the connection to its last bytes; anything else closes it.
    if (end.kind !== 'completed') this.#discard();
    this.#end.resolve(end);
  };

  readonly #cancel = (): void => {
    this.#settle({ kind: 'cancelled', by: cancelCauseOf(this.#init.signal) });
  };

  readonly #resume = (): void => {
    this.paused = false;
    this.heardAtMs = this.#deps.clock.now();
    this.#controller?.resume();
  };

  #discard(): void {
    this.#deps.watch.remove(this);
    const pooled = this.#pooled;
    this.#pooled = undefined;
    if (pooled !== undefined) this.#deps.pool.discard(pooled);
  }
}

const staleCodes: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
