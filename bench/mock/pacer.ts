/** Something that is due again and again. Returns the milliseconds until it is due next, or undefined when it is over. */
export type Paced = () => number | undefined;

export interface PacerStats {
  calls: number;
  /** Latest call against its plan: how well this process keeps its pace. */
  maxLateMs: number;
}

const ringMs = 16_384;

/**
 * Calls thousands of paced things from one timer, on a plan that does not drift. A thing that is late is
 * called once per tick, never twice in a row: its frames stay single frames, so being late lowers the
 * rate instead of making larger writes that would flatter whoever relays them.
 */
export class Pacer {
  readonly #slots: Paced[][] = Array.from({ length: ringMs }, () => []);
  #cursorMs = Math.floor(performance.now());
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #stats: PacerStats = { calls: 0, maxLateMs: 0 };

  /** @param delayMs below 16 s */
  add(paced: Paced, delayMs: number): void {
    if (this.#timer === undefined) {
      this.#cursorMs = Math.floor(performance.now());
      this.#timer = setInterval(() => this.#tick(), 1);
    }
    this.#waiting++;
    this.#put(paced, Math.floor(performance.now()) + Math.ceil(delayMs));
  }

  /** Since the last look. */
  takeStats(): PacerStats {
    const stats = this.#stats;
    this.#stats = { calls: 0, maxLateMs: 0 };
    return stats;
  }

  #put(paced: Paced, dueMs: number): void {
    this.#slots[Math.max(dueMs, this.#cursorMs + 1) % ringMs]?.push(paced);
  }

  #tick(): void {
    const nowMs = Math.floor(performance.now());
    while (this.#cursorMs < nowMs) {
      this.#cursorMs++;
      this.#callSlot(this.#cursorMs, nowMs);
    }
    if (this.#waiting > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #callSlot(slotMs: number, nowMs: number): void {
    const slot = this.#slots[slotMs % ringMs];
    if (slot === undefined || slot.length === 0) return;
    this.#slots[slotMs % ringMs] = [];
    this.#stats.calls += slot.length;
    this.#stats.maxLateMs = Math.max(this.#stats.maxLateMs, nowMs - slotMs);
    for (const paced of slot) {
      const nextMs = paced();
      if (nextMs === undefined) this.#waiting--;
      else this.#put(paced, Math.max(slotMs + nextMs, nowMs + 1));
    }
  }
}
