import type { RunEnd } from '@iop/domain';
import type { RuntimeEvent } from '@iop/runtime';
import type { AttemptRef, AttemptSink } from '../ports/node-link.ts';
import type { Place } from './places.ts';
import type { Run, RunContext } from './run.ts';

/** What an attempt's events do to its run: `attempt-events.ts`. */
export interface AttemptHandlers {
  accepted(ctx: RunContext, attempt: Attempt): void;
  events(ctx: RunContext, attempt: Attempt, batch: EventBatch): void;
  stateChanged(ctx: RunContext, attempt: Attempt, state: 'running' | 'waiting'): void;
  end(ctx: RunContext, attempt: Attempt, last: { end: RunEnd; seq: number }): void;
  broken(ctx: RunContext, attempt: Attempt, why: { code: string; message: string }): void;
}

export interface EventBatch {
  events: readonly RuntimeEvent[];
  sizeBytes: number;
  /** Of the last of them. */
  lastSeq: number;
}

/** One dispatch of a run. E7, E8: once it is over, whatever arrives for it changes nothing. */
export class Attempt implements AttemptSink, AttemptRef {
  readonly run: Run;
  readonly runId: string;
  readonly attempt: number;
  readonly place: Place;
  /** Which process of the Node has it. */
  readonly instance: string;
  /** The Node was asked; before that a detached attempt is being committed. */
  isSent = false;
  /** Of an attempt of an earlier process of the Edge that no link knows yet: the last seq in the log. */
  restoredSeq: number | undefined;
  wasAccepted = false;
  /** Bytes of events that the owner has not passed on yet. */
  heldBytes = 0;
  over = false;
  readonly #ctx: RunContext;

  constructor(ctx: RunContext, run: Run, at: { attempt: number; place: Place; instance: string }) {
    this.#ctx = ctx;
    this.run = run;
    this.runId = run.id;
    this.attempt = at.attempt;
    this.place = at.place;
    this.instance = at.instance;
  }

  accepted(): void {
    if (this.#isLive()) this.#ctx.handlers.accepted(this.#ctx, this);
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number, lastSeq: number): void {
    if (this.#isLive()) this.#ctx.handlers.events(this.#ctx, this, { events, sizeBytes, lastSeq });
  }

  stateChanged(state: 'running' | 'waiting'): void {
    if (this.#isLive()) this.#ctx.handlers.stateChanged(this.#ctx, this, state);
  }

  end(end: RunEnd, seq: number): void {
    if (this.#isLive()) this.#ctx.handlers.end(this.#ctx, this, { end, seq });
  }

  broken(code: string, message: string): void {
    if (this.#isLive()) this.#ctx.handlers.broken(this.#ctx, this, { code, message });
  }

  #isLive(): boolean {
    if (!this.over) return true;
    this.#ctx.counters.stale++;
    return false;
  }
}
