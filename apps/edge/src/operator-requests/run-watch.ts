import {
  create,
  type Failure,
  type OperatorUpdate,
  RunGapSchema,
  RunUpdateSchema,
  type WatchRunRequest,
  type WatchRunResponse,
  WatchRunResponseSchema,
} from '@iop/wire';
import type { LogReader, OpenOutcome, RunCursor } from '../core/door.ts';
import type { LogEvent } from '../ports/run-log.ts';
import { toRunEventAt } from './event-at.ts';
import type { OperatorEdge } from './question.ts';
import { refusal, storeUnavailable } from './refusals.ts';
import { runUnknown } from './run-requests.ts';
import { toRunInfo } from './views-to-wire.ts';
import { WatchedState } from './watched-state.ts';

/** Where what a watcher is told goes; nothing comes after `done`. */
export interface WatchSink {
  /** `sizeBytes` is what it takes of the window; `lastPos` what it reaches to. */
  update(update: OperatorUpdate['update'], reach: { sizeBytes: number; lastPos: number }): void;
  /** With a failure: it goes on, and may be asked for after the last pos that came. */
  done(failure: Failure | undefined): void;
}

export interface WatchOptions extends Pick<WatchRunRequest, 'runId' | 'afterPos'> {
  /** An attached run lives while one of those is open. */
  owns: boolean;
}

export type WatchOutcome =
  | { kind: 'opened'; watch: RunWatch; response: WatchRunResponse }
  /** The run has ended where the watch would begin. */
  | { kind: 'at-end'; response: WatchRunResponse }
  | { kind: 'refused'; failure: Failure };

/**
 * A look at a run in messages of the wire. It gives the Edge no window back by itself: whoever passes the updates on
 * calls `consumed` as they leave.
 */
export class RunWatch implements LogReader {
  readonly #runId: string;
  readonly #sink: WatchSink;
  readonly #state: WatchedState;
  #cursor: RunCursor | undefined;
  #isOver = false;

  private constructor({ runId, afterPos }: WatchOptions, sink: WatchSink) {
    this.#runId = runId;
    this.#sink = sink;
    this.#state = new WatchedState(afterPos);
  }

  /** Nothing is told before `begin`. */
  static async open(edge: OperatorEdge, options: WatchOptions, sink: WatchSink): Promise<WatchOutcome> {
    const watch = new RunWatch(options, sink);
    const outcome = await edge.open(options, watch);
    if (outcome.kind !== 'opened' && outcome.kind !== 'at-end')
      return { kind: 'refused', failure: toOpenFailure(outcome, options) };
    const response = create(WatchRunResponseSchema, { run: toRunInfo(outcome.record) });
    if (outcome.kind === 'at-end') return { kind: 'at-end', response };
    watch.#cursor = outcome.cursor;
    return { kind: 'opened', watch, response };
  }

  begin(): void {
    this.#cursor?.start();
  }

  consumed(sizeBytes: number): void {
    if (!this.#isOver) this.#cursor?.consumed(sizeBytes);
  }

  /** Looks no longer. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cursor?.close();
  }

  push(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void {
    this.#state.note(events);
    const value = create(RunUpdateSchema, {
      runId: this.#runId,
      state: this.#state.state,
      node: this.#state.node,
      firstPos,
      events: events.map((event, index) => toRunEventAt(event, firstPos + index)),
    });
    this.#sink.update({ case: 'run', value }, { sizeBytes, lastPos: firstPos + events.length - 1 });
    if (events.at(-1)?.kind === 'end') this.#over(undefined);
  }

  gap(fromPos: number, toPos: number): void {
    const value = create(RunGapSchema, { runId: this.#runId, fromPos, toPos });
    this.#sink.update({ case: 'gap', value }, { sizeBytes: 0, lastPos: toPos });
  }

  broken(detail: string): void {
    this.#over(storeUnavailable(detail));
  }

  #over(failure: Failure | undefined): void {
    this.#isOver = true;
    this.#sink.done(failure);
  }
}

function toOpenFailure(
  outcome: Exclude<OpenOutcome, { kind: 'opened' | 'at-end' }>,
  { runId, afterPos }: WatchOptions,
): Failure {
  switch (outcome.kind) {
    case 'unknown-run':
      return runUnknown(runId);
    case 'past-end': {
      const message = `the run ${runId} has ended at pos ${outcome.lastPos}; there is nothing after ${afterPos}`;
      return refusal('invalid', 'run.past-end', message);
    }
    case 'store-unavailable':
      return storeUnavailable(outcome.detail);
  }
}
