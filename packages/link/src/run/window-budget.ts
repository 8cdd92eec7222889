/** A run's window when there is room, and when there is none. */
export const defaultWindowBytes = 256 * 1024;
export const smallestWindowBytes = 16 * 1024;

/**
 * Bounds the sum of windows of one link, so that many runs with slow readers cannot fill the memory: when
 * half is given out, windows become smaller, down to a floor that is always given.
 */
export class WindowBudget {
  readonly #limitBytes: number;
  #takenBytes = 0;

  constructor(limitBytes: number = 64 * 1024 * 1024) {
    this.#limitBytes = limitBytes;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** A window for one more run; to be given back by `release` when the run has ended. */
  take(): number {
    const free = Math.max(0, this.#limitBytes - this.#takenBytes);
    const fair = free >= this.#limitBytes / 2 ? defaultWindowBytes : free / 128;
    const windowBytes = Math.round(Math.min(defaultWindowBytes, Math.max(smallestWindowBytes, fair)));
    this.#takenBytes += windowBytes;
    return windowBytes;
  }

  release(windowBytes: number): void {
    this.#takenBytes = Math.max(0, this.#takenBytes - windowBytes);
  }
}
