import type { Clock } from '@iop/domain';
import type { Attempt } from './attempt.ts';
import type { RunLimits } from './configuration.ts';
import { failure, type StopReason } from './run-request.ts';

export interface OrphanWatchDeps {
  clock: Clock;
  attempts: Iterable<Attempt>;
  limits(): RunLimits;
  stop(attempt: Attempt, reason: StopReason): void;
}

type RunClass = Attempt['request']['runClass'];

const runClasses: readonly RunClass[] = ['attached', 'detached'];

/**
 * Stops runs that have been without a link for too long: attached ones after `orphanAfterMs`, detached ones after
 * `detachedOrphanAfterMs` (K1). A timer of each class, only while the link is down and there are such runs.
 */
export class OrphanWatch {
  readonly #deps: OrphanWatchDeps;
  readonly #cancels = new Map<RunClass, () => void>();

  constructor(deps: OrphanWatchDeps) {
    this.#deps = deps;
  }

  /** The link is up, or there is no run any more. */
  cancel(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  linkDown(): void {
    for (const runClass of runClasses) {
      // Without a link no run can come, so only those that are here matter.
      if (this.#cancels.has(runClass) || this.#of(runClass).length === 0) continue;
      const { orphanAfterMs, detachedOrphanAfterMs } = this.#deps.limits();
      const afterMs = runClass === 'attached' ? orphanAfterMs : detachedOrphanAfterMs;
      this.#cancels.set(
        runClass,
        this.#deps.clock.after(afterMs, () => this.#stopAll(runClass, afterMs)),
      );
    }
  }

  #of(runClass: RunClass): Attempt[] {
    return [...this.#deps.attempts].filter(({ request }) => request.runClass === runClass);
  }

  #stopAll(runClass: RunClass, afterMs: number): void {
    this.#cancels.delete(runClass);
    const message = `this Node had no link to its Edge for ${afterMs / 1000} s; ${runClass} runs do not go on alone for longer`;
    const orphaned = failure('unavailable', 'node.orphaned', message, true);
    for (const attempt of this.#of(runClass)) this.#deps.stop(attempt, { kind: 'fail', failure: orphaned });
  }
}
