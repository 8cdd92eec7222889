import { Samples, summarize } from '../statistics.ts';
import type { StreamResult } from './messages.ts';

/** What all streams of one cell measure together. Times are microseconds of the monotonic clock. */
export class StreamMeter {
  readonly #delays = new Samples();
  readonly #gaps = new Samples();
  readonly #firsts = new Samples();
  #frames = 0;
  #open = false;

  openWindow(): void {
    this.#open = true;
  }

  closeWindow(): void {
    this.#open = false;
  }

  first(delayUs: number): void {
    this.#firsts.push(delayUs);
  }

  /** @param lastUs arrival of the frame before it in the same stream; 0: it is the first */
  frame(arrivedUs: number, stampUs: number, lastUs: number): void {
    if (!this.#open) return;
    this.#frames++;
    this.#delays.push(arrivedUs - stampUs);
    if (lastUs > 0) this.#gaps.push(arrivedUs - lastUs);
  }

  result(): Pick<StreamResult, 'frames' | 'delayUs' | 'gapUs' | 'firstUs'> {
    return {
      frames: this.#frames,
      delayUs: summarize(this.#delays.values()),
      gapUs: summarize(this.#gaps.values()),
      firstUs: summarize(this.#firsts.values()),
    };
  }
}
