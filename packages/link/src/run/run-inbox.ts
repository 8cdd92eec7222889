import { type RunEvent, type RunEvents, runEventSizeBytes } from '@iop/wire';
import type { Ledger, LedgerBook } from './ledger.ts';
import { maxPayloadBytes } from './pump.ts';

export interface RunInboxOptions {
  runId: string;
  attempt: number;
  /** `RunRequest.event_credit`: how far the executor may run ahead of the reader. */
  windowBytes: number;
  ledger: Ledger;
  /** `receipt`: what arrived is acked (attached runs). `commit`: only what `committed` said. */
  ackOn?: 'receipt' | 'commit';
  /** Of an attempt that an earlier process of this side began: everything up to here is durable. */
  receivedSeq?: number;
}

export type InboxStep =
  /** In order and never seen before; `sizeBytes` is what they take of the window. */
  | { kind: 'fresh'; events: readonly RunEvent[]; sizeBytes: number; firstSeq: number; ended: boolean }
  /** Seen before, or after the end: ignore. */
  | { kind: 'duplicate' }
  /** Something is missing: the attempt must not look whole. */
  | { kind: 'gap'; expectedSeq: number; firstSeq: number }
  /** The executor sent more than it was allowed to: it is broken. */
  | { kind: 'overdrawn'; byBytes: number };

/**
 * The Edge's side of one attempt: each event once and in order, acks and credit by the ledger (L14, L15, L18, L21).
 * Outlives links.
 */
export class RunInbox implements LedgerBook {
  readonly runId: string;
  readonly attempt: number;
  readonly #ledger: Ledger;
  readonly #windowBytes: number;
  readonly #ackOn: 'receipt' | 'commit';
  #receivedSeq = 0;
  #committedSeq = 0;
  #ackedSeq = 0;
  #receivedBytes = 0;
  #consumedBytes = 0;
  #grantedBytes: number;
  #ended = false;

  constructor(options: RunInboxOptions) {
    this.runId = options.runId;
    this.attempt = options.attempt;
    this.#ledger = options.ledger;
    this.#windowBytes = options.windowBytes;
    this.#grantedBytes = options.windowBytes;
    this.#ackOn = options.ackOn ?? 'receipt';
    this.#receivedSeq = options.receivedSeq ?? 0;
    this.#committedSeq = this.#receivedSeq;
  }

  /** Last seq that arrived; 0: none. */
  get receivedSeq(): number {
    return this.#receivedSeq;
  }

  /** Arrived and not yet consumed by the reader. */
  get heldBytes(): number {
    return this.#receivedBytes - this.#consumedBytes;
  }

  get ended(): boolean {
    return this.#ended;
  }

  receive(batch: RunEvents): InboxStep {
    const expectedSeq = this.#receivedSeq + 1;
    const { firstSeq } = batch;
    if (firstSeq > expectedSeq && !this.#ended) return { kind: 'gap', expectedSeq, firstSeq };
    const known = expectedSeq - firstSeq;
    if (this.#ended || known >= batch.events.length) return this.#onDuplicate();
    return this.#take(known === 0 ? batch.events : batch.events.slice(known), expectedSeq);
  }

  /** The reader has passed on so many bytes; gives them back as credit, a quarter of a window at a time. */
  consumed(sizeBytes: number): void {
    this.#consumedBytes += sizeBytes;
    if (this.#creditDue() > 0) this.#ledger.note(this, true);
  }

  /** For `ackOn: 'commit'`: everything up to `seq` is durable. */
  committed(seq: number): void {
    this.#committedSeq = Math.max(this.#committedSeq, seq);
    if (this.#ackable() > this.#ackedSeq) this.#ledger.note(this, false);
  }

  /** For RunResume: where to go on and the whole window at this moment (L21). */
  resume(): { afterSeq: number; eventCreditBytes: number } {
    const eventCreditBytes = Math.max(0, this.#windowBytes - this.heldBytes);
    this.#grantedBytes = this.#receivedBytes + eventCreditBytes;
    this.#ackedSeq = 0;
    if (this.#ackable() > 0) this.#ledger.note(this, false);
    return { afterSeq: this.#receivedSeq, eventCreditBytes };
  }

  takeAck(): number {
    const seq = this.#ackable();
    if (seq <= this.#ackedSeq) return 0;
    this.#ackedSeq = seq;
    return seq;
  }

  takeCredit(): number {
    const bytes = this.#creditDue();
    this.#grantedBytes += bytes;
    return bytes;
  }

  #take(events: readonly RunEvent[], firstSeq: number): InboxStep {
    let sizeBytes = 0;
    let count = 0;
    for (const event of events) {
      sizeBytes += runEventSizeBytes(event);
      count++;
      if (event.kind.case !== 'end') continue;
      this.#ended = true;
      break;
    }
    this.#receivedSeq += count;
    this.#receivedBytes += sizeBytes;
    const byBytes = this.#receivedBytes - this.#grantedBytes;
    if (byBytes > maxPayloadBytes) return { kind: 'overdrawn', byBytes };
    if (this.#ackable() > this.#ackedSeq) this.#ledger.note(this, false);
    const whole = count === events.length;
    return {
      kind: 'fresh',
      events: whole ? events : events.slice(0, count),
      sizeBytes,
      firstSeq,
      ended: this.#ended,
    };
  }

  /** It was sent again because its ack was lost: say it again. */
  #onDuplicate(): InboxStep {
    if (this.#ackable() > 0) {
      this.#ackedSeq = 0;
      this.#ledger.note(this, false);
    }
    return { kind: 'duplicate' };
  }

  #ackable(): number {
    return this.#ackOn === 'receipt' ? this.#receivedSeq : this.#committedSeq;
  }

  /** What the reader consumed and the executor may send again, once it is worth a frame. */
  #creditDue(): number {
    if (this.#ended) return 0;
    const bytes = this.#consumedBytes + this.#windowBytes - this.#grantedBytes;
    return bytes >= this.#windowBytes / 4 ? bytes : 0;
  }
}
