import type { RunEnd, RunState } from '@iop/domain';
import { type BodyReceiver, RunOutbox, type RunOutboxOptions } from '@iop/link';
import type { RuntimeEvent } from '@iop/runtime';
import {
  create,
  type RunInventoryEntry,
  RunInventoryEntrySchema,
  toEndEvent,
  toWireRunState,
} from '@iop/wire';
import type { RunChannel } from '../../ports/run-channel.ts';
import { toWireEvent } from './to-wire-event.ts';

export interface WireChannelInit extends RunOutboxOptions {
  /** Its end is in the outbox. */
  ended(channel: WireChannel, end: RunEnd): void;
}

/**
 * The wire side of one attempt: numbers and keeps its events until the Edge has acked them. Lives over
 * links, and for a while after the run, until the end is acked.
 */
export class WireChannel implements RunChannel {
  readonly outbox: RunOutbox;
  /** While its request body is still coming. */
  body: BodyReceiver | undefined;
  /** How the run ended, if it has. */
  endKind: RunEnd['kind'] | undefined;
  readonly #ended: WireChannelInit['ended'];
  #isDropped = false;

  constructor(init: WireChannelInit) {
    this.outbox = new RunOutbox(init);
    this.#ended = init.ended;
  }

  emit(event: RuntimeEvent): boolean {
    return this.#isDropped || this.outbox.append(toWireEvent(event));
  }

  whenRoom(callback: () => void): void {
    if (this.#isDropped) callback();
    else this.outbox.whenRoom(callback);
  }

  end(end: RunEnd): void {
    this.endKind = end.kind;
    this.body = undefined;
    if (this.#isDropped) return;
    // What nobody takes would hold this end back for ever.
    if (end.kind === 'failed' && end.failure.code === 'run.stalled') this.outbox.discardUnsent();
    this.outbox.append({ $typeName: 'iop.wire.v1.RunEvent', kind: { case: 'end', value: toEndEvent(end) } });
    this.#ended(this, end);
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
