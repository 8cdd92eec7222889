import type { CancelCause, Clock } from '@iop/domain';
import type { Attempt } from './attempt.ts';
import type { AttemptTable } from './attempt-table.ts';
import type { StopReason } from './run-request.ts';

export interface DrainDeps {
  clock: Clock;
  attempts: AttemptTable;
  stop(attempt: Attempt, reason: StopReason): void;
}

/** Taking no new runs: for a while, on command; or to the end, before the process goes. */
export class Drain {
  isDraining = false;
  listener: (draining: boolean) => void = () => {};
  readonly #deps: DrainDeps;
  #cancelDeadline: (() => void) | undefined;
  #isFinal = false;
  #empty: (() => void) | undefined;

  constructor(deps: DrainDeps) {
    this.#deps = deps;
  }

  /** @param deadlineMs what still runs then is cancelled; 0: never */
  begin(deadlineMs: number): void {
    if (this.#isFinal) return;
    this.#cancelDeadline?.();
    this.#cancelDeadline =
      deadlineMs > 0 ? this.#deps.clock.after(deadlineMs, () => this.#cancelAll('drain')) : undefined;
    this.#set(true);
  }

  end(): void {
    if (this.#isFinal) return;
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    this.#set(false);
  }

  async toTheEnd({ graceMs, stopMs }: { graceMs: number; stopMs: number }): Promise<void> {
    this.#isFinal = true;
    this.#set(true);
    if (await this.#emptyWithin(graceMs)) return;
    this.#cancelAll('shutdown');
    await this.#emptyWithin(stopMs);
  }

  /** No attempt is left. */
  idle(): void {
    this.#empty?.();
  }

  #emptyWithin(limitMs: number): Promise<boolean> {
    if (this.#deps.attempts.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(limitMs, () => resolve(false));
      this.#empty = () => {
        cancel();
        resolve(true);
      };
    });
  }

  #cancelAll(by: CancelCause): void {
    for (const attempt of [...this.#deps.attempts]) this.#deps.stop(attempt, { kind: 'cancel', by });
  }

  #set(draining: boolean): void {
    if (this.isDraining === draining) return;
    this.isDraining = draining;
    this.listener(draining);
  }
}
