import type { Attempt } from './attempt.ts';
import { OrphanWatch, type OrphanWatchDeps } from './orphan-watch.ts';
import { failure } from './run-request.ts';

/**
 * Ends what would otherwise hold a machine for nobody: runs whose reader takes nothing for `stallAfterMs`
 * while there is a link (K2), and orphans.
 *
 * One coarse timer, armed only while there are runs.
 */
export class RunWatch {
  readonly #deps: OrphanWatchDeps;
  readonly #orphans: OrphanWatch;
  #isArmed = false;
  #isLinked = true;
  #linkedAtMs: number;

  constructor(deps: OrphanWatchDeps) {
    this.#deps = deps;
    this.#orphans = new OrphanWatch(deps);
    this.#linkedAtMs = deps.clock.now();
  }

  /** There is at least one run now. */
  arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#deps.clock.after(this.#periodMs(), this.#sweep);
  }

  linkUp(): void {
    this.#isLinked = true;
    this.#linkedAtMs = this.#deps.clock.now();
    this.#orphans.cancel();
  }

  linkDown(): void {
    this.#isLinked = false;
    this.#orphans.linkDown();
  }

  /** No run is left. */
  idle(): void {
    this.#orphans.cancel();
  }

  readonly #sweep = (): void => {
    this.#isArmed = false;
    const { stallAfterMs } = this.#deps.limits();
    let isAny = false;
    for (const attempt of [...this.#deps.attempts]) {
      isAny = true;
      if (this.#isStalled(attempt, stallAfterMs)) this.#stall(attempt, stallAfterMs);
    }
    if (isAny) this.arm();
  };

  #isStalled({ fullSinceMs }: Attempt, stallAfterMs: number): boolean {
    if (fullSinceMs === undefined || !this.#isLinked) return false;
    return this.#deps.clock.now() - Math.max(fullSinceMs, this.#linkedAtMs) >= stallAfterMs;
  }

  #stall(attempt: Attempt, stallAfterMs: number): void {
    const message = `nobody took the events of this run for ${Math.round(stallAfterMs / 100) / 10} s`;
    this.#deps.stop(attempt, { kind: 'fail', failure: failure('timeout', 'run.stalled', message) });
  }

  #periodMs(): number {
    return Math.min(1000, Math.max(10, this.#deps.limits().stallAfterMs / 4));
  }
}
