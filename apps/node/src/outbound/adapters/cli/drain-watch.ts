import type { Clock } from '@iop/domain';
import type { OutputReader } from './output-reader.ts';

export interface DrainInit {
  clock: Clock;
  reader: OutputReader;
  /** How long output may go on after the leader's end, and the leader after its output's end. */
  limitMs: number;
  drained(): void;
  livesOn(): void;
}

/** When a program is at its end: its leader, its output and its messages, in any order (C7). */
export class DrainWatch {
  readonly #init: DrainInit;
  #hasLeaderEnded = false;
  #isStderrClosed = false;
  #isStopped = false;
  #cancel = () => {};

  constructor(init: DrainInit) {
    this.#init = init;
  }

  leaderEnded(): void {
    this.#hasLeaderEnded = true;
    this.look();
  }

  stderrClosed(): void {
    this.#isStderrClosed = true;
    this.look();
  }

  /** Something has ended. */
  look(): void {
    if (this.#isStopped) return;
    const { reader, limitMs, drained } = this.#init;
    if (this.#hasLeaderEnded && reader.isClosed && this.#isStderrClosed) drained();
    else if (this.#hasLeaderEnded || reader.isClosed) this.#arm(limitMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #arm(delayMs: number): void {
    this.#cancel();
    this.#cancel = this.#init.clock.after(delayMs, () => this.#due());
  }

  #due(): void {
    const { clock, reader, limitMs, drained, livesOn } = this.#init;
    if (!this.#hasLeaderEnded) {
      livesOn();
      return;
    }
    // Only time counts in which the output was read.
    const leftMs = reader.isPaused ? limitMs : reader.readsSinceMs + limitMs - clock.now();
    if (leftMs > 0) this.#arm(leftMs);
    else drained();
  }
}
