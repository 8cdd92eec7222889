import type { Clock } from '@iop/domain';
import { create, RunAckEntrySchema, RunAckSchema, RunCreditEntrySchema, RunCreditSchema } from '@iop/wire';
import type { Link } from '../link.ts';

/** Acks are never later than this. */
export const ackWithinMs = 50;

/** What owes the peer acks or credit: inboxes and body receivers. */
export interface LedgerBook {
  readonly runId: string;
  readonly attempt: number;
  /** Highest seq to be acked now; 0: none is due. Taking it settles it. */
  takeAck(): number;
  /** Bytes of credit to be given now; 0: none is due. Taking it settles it. */
  takeCredit(): number;
}

/**
 * Collects acks and credit of all runs of one peer: one RunAck and one RunCredit a flush (L18, L19).
 * Outlives links: `attach` and `detach` it as they come and go; what a dead link still owed is told
 * anew by RunResume.
 */
export class Ledger {
  readonly #clock: Clock;
  #due = new Set<LedgerBook>();
  #link: Link | undefined;
  #flushDue = false;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  attach(link: Link): void {
    this.detach();
    this.#link = link;
  }

  detach(): void {
    this.#link = undefined;
    this.#due = new Set();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** `soon`: at the end of this tick; else within `ackWithinMs`. */
  note(book: LedgerBook, soon: boolean): void {
    if (this.#link === undefined) return;
    this.#due.add(book);
    if (soon) this.#flushSoon();
    else if (this.#cancelTimer === undefined) {
      this.#cancelTimer = this.#clock.after(ackWithinMs, this.#onTimer);
    }
  }

  #flushSoon(): void {
    if (this.#flushDue) return;
    this.#flushDue = true;
    this.#clock.soon(this.#flush);
  }

  readonly #onTimer = (): void => {
    this.#cancelTimer = undefined;
    this.#flush();
  };

  readonly #flush = (): void => {
    this.#flushDue = false;
    const link = this.#link;
    if (link === undefined || this.#due.size === 0) return;
    const acks = [];
    const credits = [];
    for (const { runId, attempt, seq, bytes } of this.#settle()) {
      if (seq > 0) acks.push(create(RunAckEntrySchema, { runId, attempt, seq }));
      if (bytes > 0) credits.push(create(RunCreditEntrySchema, { runId, attempt, bytes }));
    }
    if (acks.length > 0) link.send({ case: 'runAck', value: create(RunAckSchema, { entries: acks }) });
    if (credits.length > 0)
      link.send({ case: 'runCredit', value: create(RunCreditSchema, { entries: credits }) });
  };

  #settle(): { runId: string; attempt: number; seq: number; bytes: number }[] {
    const settled = [];
    const due = this.#due;
    this.#due = new Set();
    for (const book of due) {
      const { runId, attempt } = book;
      settled.push({ runId, attempt, seq: book.takeAck(), bytes: book.takeCredit() });
    }
    return settled;
  }
}
