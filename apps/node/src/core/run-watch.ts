import type { Clock } from '@iop/domain';
import type { Attempt } from './attempt.ts';
import type { RunLimits } from './configuration.ts';
import { failure, type StopReason } from './run-request.ts';

export interface RunWatchDeps {
  clock: Clock;
  attempts: Iterable<Attempt>;
  limits(): RunLimits;
  stop(attempt: Attempt, reason: StopReason): void;
}

/**
 * Ends what would otherwise hold a machine for nobody: runs whose reader takes nothing for
 * `stallAfterMs`, and attached runs that have been without a link for `orphanAfterMs`.
 *
 * One coarse timer, armed only while there are runs; the orphan timer only while the link is down.
 */
export class RunWatch {
  readonly #deps: RunWatchDeps;
  #isArmed = false;
  #cancelOrphans: (() => void) | undefined;

  constructor(deps: RunWatchDeps) {
    this.#deps = deps;
  }

  /** There is at least one run now. */
  arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#deps.clock.after(this.#periodMs(), this.#sweep);
  }

  linkUp(): void {
    this.#cancelOrphans?.();
    this.#cancelOrphans = undefined;
  }

  linkDown(): void {
    // Without a link no run can come, so only those that are here matter.
    if (this.#cancelOrphans !== undefined || !this.#hasAttached()) return;
    const { orphanAfterMs } = this.#deps.limits();
    this.#cancelOrphans = this.#deps.clock.after(orphanAfterMs, () => this.#stopOrphans(orphanAfterMs));
  }

  #hasAttached(): boolean {
    for (const { request } of this.#deps.attempts) if (request.runClass === 'attached') return true;
    return false;
  }

  #stopOrphans(orphanAfterMs: number): void {
    this.#cancelOrphans = undefined;
    const message = `this Node had no link to its Edge for ${seconds(orphanAfterMs)}; attached runs do not go on alone`;
    for (const attempt of [...this.#deps.attempts]) {
      if (attempt.request.runClass !== 'attached') continue;
      this.#deps.stop(attempt, {
        kind: 'fail',
        failure: failure('unavailable', 'node.orphaned', message, true),
      });
    }
  }

  readonly #sweep = (): void => {
    this.#isArmed = false;
    const now = this.#deps.clock.now();
    const { stallAfterMs } = this.#deps.limits();
    let isAny = false;
    for (const attempt of [...this.#deps.attempts]) {
      isAny = true;
      const { fullSinceMs } = attempt;
      if (fullSinceMs !== undefined && now - fullSinceMs >= stallAfterMs) this.#stall(attempt, stallAfterMs);
    }
    if (isAny) this.arm();
  };

  #stall(attempt: Attempt, stallAfterMs: number): void {
    const message = `nobody took the events of this run for ${seconds(stallAfterMs)}`;
    this.#deps.stop(attempt, { kind: 'fail', failure: failure('timeout', 'run.stalled', message) });
  }

  #periodMs(): number {
    return Math.min(1000, Math.max(10, this.#deps.limits().stallAfterMs / 4));
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
