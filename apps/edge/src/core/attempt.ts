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
  end(ctx: RunContext, attempt: Attempt, end: RunEnd): void;
  broken(ctx: RunContext, attempt: Attempt, why: { code: string; message: string }): void;
}

export interface EventBatch {
  events: readonly RuntimeEvent[];
  sizeBytes: number;
}

/** One dispatch of a run. E7, E8: once it is over, whatever arrives for it changes nothing. */
export class Attempt implements AttemptSink, AttemptRef {
  readonly run: Run;
  readonly runId: string;
  readonly attempt: number;
  readonly place: Place;
  wasAccepted = false;
  /** Bytes of events that the owner has not passed on yet. */
  heldBytes = 0;
  over = false;
  readonly #ctx: RunContext;

  constructor(ctx: RunContext, run: Run, at: { attempt: number; place: Place }) {
    this.#ctx = ctx;
    this.run = run;
    this.runId = run.id;
    this.attempt = at.attempt;
    this.place = at.place;
  }

  accepted(): void {
    if (this.#isLive()) this.#ctx.handlers.accepted(this.#ctx, this);
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number): void {
    if (this.#isLive()) this.#ctx.handlers.events(this.#ctx, this, { events, sizeBytes });
  }

  stateChanged(state: 'running' | 'waiting'): void {
    if (this.#isLive()) this.#ctx.handlers.stateChanged(this.#ctx, this, state);
  }

  end(end: RunEnd): void {
    if (this.#isLive()) this.#ctx.handlers.end(this.#ctx, this, end);
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
