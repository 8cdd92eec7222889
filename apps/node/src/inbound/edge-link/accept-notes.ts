import type { Clock } from '@iop/domain';
import type { Link } from '@iop/link';
import { create, RunAcceptedSchema } from '@iop/wire';
import type { WireChannel } from './wire-channel.ts';

/** An attempt that has said nothing for so long is announced. */
export const acceptWithinMs = 20;

/**
 * Tells the Edge which attempts were taken. The first event of an attempt says it as well, so a quick one
 * costs no message of its own. One timer, armed only when something is due.
 */
export class AcceptNotes {
  readonly #clock: Clock;
  #due = new Map<WireChannel, Link>();
  #isArmed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `link`: on which it was asked for; after another one the inventory says it. */
  add(channel: WireChannel, link: Link): void {
    this.#due.set(channel, link);
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#clock.after(acceptWithinMs, () => this.#flush());
  }

  #flush(): void {
    this.#isArmed = false;
    const due = this.#due;
    this.#due = new Map();
    for (const [{ outbox }, link] of due) {
      if (outbox.lastSeq > 0) continue;
      const { runId, attempt } = outbox;
      link.send({ case: 'runAccepted', value: create(RunAcceptedSchema, { runId, attempt }) });
    }
  }
}
