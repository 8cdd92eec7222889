import type { AttachedRun } from '../../core/door.ts';
import type { Exchange } from './exchange.ts';

/**
 * Ties a run to the exchange that owns it.
 *
 * O1: when the caller goes away, in whatever phase, the run is cancelled at once and once.
 * O2: an ended run is neither cancelled nor given window.
 */
export class RunOwner {
  readonly #exchange: Exchange;
  #run: AttachedRun | undefined;
  #hasEnded = false;
  #hasLeft = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    exchange.onGone = () => this.leave();
  }

  /** False until the Edge's `start` has returned; its reader may be called before. */
  get isAttached(): boolean {
    return this.#run !== undefined;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  attach(run: AttachedRun): void {
    this.#run = run;
    this.#exchange.runId = run.id;
    if (this.#hasLeft && !this.#hasEnded) run.cancel('caller');
  }

  consumed(sizeBytes: number): void {
    if (!this.#hasEnded && !this.#hasLeft) this.#run?.consumed(sizeBytes);
  }

  /** The owner wants no more of it. */
  leave(): void {
    if (this.#hasLeft || this.#hasEnded) return;
    this.#hasLeft = true;
    this.#run?.cancel('caller');
  }

  ended(): void {
    this.#hasEnded = true;
  }
}
