import type { RunEnd } from '@iop/domain';
import type { LogReader, RunCursor } from '../../core/door.ts';
import type { LogEvent } from '../../ports/run-log.ts';
import { missingResponse } from './response-refusals.ts';
import { type Called, storeAway } from './responses-port.ts';
import type { RunSource, Showing } from './showing.ts';

export interface CursorSourceInit {
  called: Called;
  runId: string;
  /** An attached run lives as long as somebody has it open in this way. */
  owns: boolean;
}

/** The log of a run from its first event on, for one caller. */
export class CursorSource implements LogReader, RunSource {
  readonly #init: CursorSourceInit;
  #cursor: RunCursor | undefined;
  #showing: Showing | undefined;
  #isOver = false;

  constructor(init: CursorSourceInit) {
    this.#init = init;
    init.called.exchange.runId = init.runId;
    init.called.exchange.onGone = () => this.leave();
  }

  async open(show: (source: RunSource) => Showing): Promise<void> {
    const { called, runId, owns } = this.#init;
    const { edge, keyId, exchange } = called;
    const outcome = await edge.open({ runId, afterPos: 0, owns, keyId }, this);
    if (outcome.kind === 'store-unavailable') exchange.refuse(storeAway(outcome.detail));
    else if (outcome.kind !== 'opened') exchange.refuse(missingResponse());
    // who has gone meanwhile owned it all the same, so that it ends
    else if (this.#isOver || exchange.isOver) outcome.cursor.close();
    else {
      this.#cursor = outcome.cursor;
      this.#showing = show(this);
      outcome.cursor.start();
    }
  }

  push(events: readonly LogEvent[], _firstPos: number, sizeBytes: number): void {
    if (this.#isOver) return;
    for (const event of events) if (event.kind === 'attempt') this.#init.called.exchange.place = event;
    this.#showing?.take(events, sizeBytes);
    const last = events.at(-1);
    if (last?.kind === 'end') void this.#ended(last.end);
  }

  gap(fromPos: number, toPos: number): void {
    const message = `The events ${fromPos} to ${toPos} of this run are gone, so its answer cannot be shown whole.`;
    this.#break({ status: 410, message, type: 'server_error', code: 'event.gap' });
  }

  broken(detail: string): void {
    this.#break(storeAway(detail));
  }

  consumed(sizeBytes: number): void {
    if (!this.#isOver) this.#cursor?.consumed(sizeBytes);
  }

  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cursor?.close();
  }

  #break(refusal: Parameters<Showing['broken']>[0]): void {
    if (this.#isOver) return;
    this.leave();
    this.#showing?.broken(refusal);
  }

  /** When it ended is in its record, and the same for everybody who asks. */
  async #ended(end: RunEnd): Promise<void> {
    const { edge, keyId, port, exchange } = this.#init.called;
    const found = await edge.findRun({ runId: this.#init.runId, keyId }).catch(() => undefined);
    if (this.#isOver) return;
    this.#isOver = true;
    const endedAtMs = found?.endedAtMs ?? port.clock.wall();
    port.guard(exchange, () => {
      if (!exchange.isOver) this.#showing?.end(end, endedAtMs);
    });
  }
}
