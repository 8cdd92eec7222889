import type { Clock } from '@iop/domain';
import type { AdapterReport } from './adapter-report.ts';

export interface CapabilityWatchDeps {
  clock: Clock;
  read(signal: AbortSignal): Promise<readonly AdapterReport[]>;
  /** The whole list, whenever it differs from the last one given. */
  changed(reports: readonly AdapterReport[]): void;
  /** Between two looks. While something is unhealthy it is looked at more often. */
  intervalMs: number;
  /** One look takes at most so long. */
  timeoutMs: number;
}

/** Between a look and one out of turn. */
const pokeGapMs = 500;

/**
 * Looks at what the adapters can do, again and again, and says so when it has changed. Looks never
 * overlap, and what an outdated look finds is not told.
 */
export class CapabilityWatch {
  readonly #deps: CapabilityWatchDeps;
  #told = '';
  #lookedAtMs = 0;
  #round = 0;
  #cancelNext: (() => void) | undefined;
  #abort: AbortController | undefined;

  constructor(deps: CapabilityWatchDeps) {
    this.#deps = deps;
  }

  /** Looks at once and tells the result whatever it is: for a new link or a new configuration. */
  restart(): void {
    this.stop();
    this.#told = '';
    void this.#look(this.#round);
  }

  /** Something has just gone wrong: looks now, unless a look is under way or was a moment ago. */
  poke(): void {
    if (this.#cancelNext === undefined || this.#deps.clock.now() - this.#lookedAtMs < pokeGapMs) return;
    this.#cancelNext();
    this.#cancelNext = undefined;
    void this.#look(this.#round);
  }

  stop(): void {
    this.#round++;
    this.#cancelNext?.();
    this.#cancelNext = undefined;
    this.#abort?.abort();
    this.#abort = undefined;
  }

  async #look(round: number): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    const { clock, timeoutMs, intervalMs } = this.#deps;
    const cancelTimeout = clock.after(timeoutMs, () => abort.abort());
    const reports = await this.#deps.read(abort.signal);
    cancelTimeout();
    if (round !== this.#round) return;
    this.#lookedAtMs = clock.now();
    this.#tell(reports);
    const isWell = reports.every((report) => report.healthy);
    const waitMs = isWell ? intervalMs : Math.ceil(intervalMs / 5);
    this.#cancelNext = clock.after(waitMs, () => void this.#look(round));
  }

  #tell(reports: readonly AdapterReport[]): void {
    const text = JSON.stringify(reports);
    if (text === this.#told) return;
    this.#told = text;
    this.#deps.changed(reports);
  }
}
