import type { Clock } from '@iop/domain';
import { type AdapterLoad, type AdapterReport, loadsOf } from './adapter-report.ts';

export interface CapabilityWatchDeps {
  clock: Clock;
  read(signal: AbortSignal): Promise<readonly AdapterReport[]>;
  /** The whole list, whenever it differs from the last one given; load is no difference. */
  changed(reports: readonly AdapterReport[]): void;
  /** The whole list, whenever it differs from the last one given, at most once a second. */
  loadChanged(loads: readonly AdapterLoad[]): void;
  /** Between two looks. While something is unhealthy it is looked at more often. */
  intervalMs: number;
  /** One look takes at most so long. */
  timeoutMs: number;
}

/** Between a look and one out of turn. */
const pokeGapMs = 500;
/** Between two tellings of load. */
const loadGapMs = 1000;
const noLoads = '[]';

/**
 * Looks at what the adapters can do, again and again, and says so when it has changed. Looks never
 * overlap, and what an outdated look finds is not told.
 */
export class CapabilityWatch {
  readonly #deps: CapabilityWatchDeps;
  #told = '';
  #toldLoads = noLoads;
  #toldLoadsAtMs = Number.NEGATIVE_INFINITY;
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
    // Who has never heard of any load need not hear that there is none.
    if (this.#toldLoads !== noLoads) this.#toldLoads = '';
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
    const text = JSON.stringify(reports.map((report) => ({ ...report, load: undefined })));
    if (text !== this.#told) {
      this.#told = text;
      this.#deps.changed(reports);
    }
    this.#tellLoads(loadsOf(reports));
  }

  #tellLoads(loads: readonly AdapterLoad[]): void {
    const text = JSON.stringify(loads);
    const now = this.#deps.clock.now();
    // What is too early is told by the next look, if it still differs.
    if (text === this.#toldLoads || now - this.#toldLoadsAtMs < loadGapMs) return;
    this.#toldLoads = text;
    this.#toldLoadsAtMs = now;
    this.#deps.loadChanged(loads);
  }
}
