import type { Clock } from '@iop/domain';

/** Does something once, at the earliest of the times that it was given. */
export class DueTimer {
  readonly #clock: Clock;
  readonly #due: () => void;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, due: () => void) {
    this.#clock = clock;
    this.#due = due;
  }

  get isArmed(): boolean {
    return this.#cancel !== undefined;
  }

  within(delayMs: number): void {
    const atMs = this.#clock.now() + delayMs;
    if (atMs >= this.#dueAtMs) return;
    this.#cancel?.();
    this.#dueAtMs = atMs;
    this.#cancel = this.#clock.after(delayMs, () => {
      this.stop();
      this.#due();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#dueAtMs = Number.POSITIVE_INFINITY;
  }
}
