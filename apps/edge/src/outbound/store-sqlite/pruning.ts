import type { Clock } from '@iop/domain';
import type { StoreLink } from './store-link.ts';

/** How long what is kept; see `StoreOptions`. */
export interface Retention {
  recordsMs: number;
  contentBytes: number;
  storedMs: number;
}

/** Deletes what is old, from time to time and when there is too much. */
export interface Pruning {
  /** Content of attached runs there is now. */
  seen(contentBytes: number): void;
  change(retention: Retention): void;
  stop(): void;
}

const everyMs = 3_600_000;
const soonMs = 5000;

export function createPruning(link: StoreLink, clock: Clock, retention: Retention): Pruning {
  return new Bites(link, clock, retention);
}

class Bites implements Pruning {
  readonly #link: StoreLink;
  readonly #clock: Clock;
  #retention: Retention;
  #cancel: () => void;
  #isBiting = false;
  #isUrgent = false;
  #stopped = false;

  constructor(link: StoreLink, clock: Clock, retention: Retention) {
    this.#link = link;
    this.#clock = clock;
    this.#retention = retention;
    this.#cancel = clock.after(soonMs, () => void this.#bite());
  }

  seen(contentBytes: number): void {
    if (contentBytes > this.#retention.contentBytes) this.#hurry();
  }

  change(retention: Retention): void {
    this.#retention = retention;
    this.#hurry();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  #hurry(): void {
    if (this.#stopped || this.#isUrgent) return;
    this.#isUrgent = true;
    if (this.#isBiting) return;
    this.#cancel();
    this.#cancel = this.#clock.after(0, () => void this.#bite());
  }

  async #bite(): Promise<void> {
    this.#isBiting = true;
    this.#isUrgent = false;
    const bounds = { nowMs: this.#clock.wall(), ...this.#retention };
    const more = await this.#link.ask({ kind: 'prune', bounds }).catch(() => false);
    this.#isBiting = false;
    if (this.#stopped) return;
    this.#cancel = this.#clock.after(more || this.#isUrgent ? 0 : everyMs, () => void this.#bite());
  }
}
