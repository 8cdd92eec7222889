import type { RunEnd, RunState } from '@iop/domain';
import type { BodyReceiver, RunOutbox } from '@iop/link';
import type { RuntimeEvent } from '@iop/runtime';
import { create, type RunInventoryEntry, RunInventoryEntrySchema, toWireRunState } from '@iop/wire';
import type { RunChannel } from '../../ports/run-channel.ts';
import { endEventOf } from './kept-end.ts';
import { toWireEvent } from './to-wire-event.ts';

export interface WireChannelInit {
  outbox: RunOutbox;
  /** The attempt is over; `release` is called when its end may leave. */
  onEnd(channel: WireChannel, end: RunEnd): void;
  /** Its end is in the outbox already: an earlier process has kept it. */
  endKind?: RunEnd['kind'];
}

/**
 * The wire side of one attempt: numbers and keeps its events until the Edge has acked them. Lives over
 * links, and for a while after the run, until the end is acked.
 */
export class WireChannel implements RunChannel {
  readonly outbox: RunOutbox;
  /** While its request body is still coming. */
  body: BodyReceiver | undefined;
  /** How the run ended, once the end may leave. */
  endKind: RunEnd['kind'] | undefined;
  /** Nothing more comes of the attempt. */
  isOver = false;
  readonly #onEnd: WireChannelInit['onEnd'];
  #isDropped = false;

  constructor({ outbox, onEnd, endKind }: WireChannelInit) {
    this.outbox = outbox;
    this.#onEnd = onEnd;
    this.endKind = endKind;
    this.isOver = endKind !== undefined;
  }

  emit(event: RuntimeEvent): boolean {
    return this.#isDropped || this.outbox.append(toWireEvent(event));
  }

  whenRoom(callback: () => void): void {
    if (this.#isDropped) callback();
    else this.outbox.whenRoom(callback);
  }

  end(end: RunEnd): void {
    this.isOver = true;
    this.body = undefined;
    if (!this.#isDropped) this.#onEnd(this, end);
  }

  /** The end may leave. */
  release(end: RunEnd): void {
    this.endKind = end.kind;
    this.outbox.append(endEventOf(end));
  }

  /** The Edge wants nothing of it any more: what still comes goes nowhere. */
  drop(): void {
    this.#isDropped = true;
  }

  /** @param state of a run that has not ended */
  toInventory(state: RunState): RunInventoryEntry {
    const { runId, attempt, lastSeq, firstKeptSeq } = this.outbox;
    return create(RunInventoryEntrySchema, {
      runId,
      attempt,
      state: toWireRunState(this.endKind ?? state),
      lastSeq,
      firstKeptSeq,
      bodyReceived: this.body?.received ?? 0,
    });
  }
}
