import type { RunEnd } from '@iop/domain';
import { isContent, type RuntimeEvent } from '@iop/runtime';
import { create, type RunEvent, RunState, RunUpdateSchema, toWireRunState } from '@iop/wire';
import type { AttachedRun, RunPlace, RunReader } from '../../core/door.ts';
import { toRunEventAt } from '../../operator-requests/event-at.ts';
import { toRunEvent } from '../../run-events/to-wire.ts';
import type { OperatorOutlet } from './operator-outlet.ts';

/**
 * A run that an operator's link owns: its events go out as updates, numbered by `pos` (those of the Edge's
 * own events are left out), and its window is given back only as the link drains (E10).
 */
export class OwnedRun implements RunReader {
  readonly #id: number;
  readonly #outlet: OperatorOutlet;
  readonly #onEnd: () => void;
  #run: AttachedRun | undefined;
  #node = '';
  #state: RunState = RunState.QUEUED;
  /** Of the newest event that was told. */
  #lastPos = 0;
  #left = false;

  constructor(id: number, outlet: OperatorOutlet, onEnd: () => void) {
    this.#id = id;
    this.#outlet = outlet;
    this.#onEnd = onEnd;
  }

  /** The run was accepted and its answer is on the way; `dispatched` may have been called before. */
  opened(run: AttachedRun): void {
    this.#run = run;
    this.#tell([], this.#lastPos + 1);
  }

  /** The owner looks no longer. */
  leave(): void {
    this.#left = true;
    this.#run?.cancel('caller');
  }

  dispatched({ node }: RunPlace): void {
    this.#node = node;
    this.#state = RunState.STARTING;
    if (this.#run !== undefined) this.#tell([], this.#lastPos + 1);
  }

  events(events: readonly RuntimeEvent[], sizeBytes: number, firstPos: number): void {
    if (this.#left) return;
    if (events.some(isContent)) this.#state = RunState.RUNNING;
    this.#lastPos = firstPos + events.length - 1;
    this.#tell(events.map(toRunEvent), firstPos);
    this.#outlet.whenDrained(() => this.#run?.consumed(sizeBytes));
  }

  end(end: RunEnd, pos: number): void {
    this.#onEnd();
    if (this.#left) return;
    this.#state = toWireRunState(end.kind);
    this.#tell([toRunEventAt({ kind: 'end', end }, pos)], pos);
    this.#outlet.stop(this.#id);
  }

  #tell(events: RunEvent[], firstPos: number): void {
    const run = create(RunUpdateSchema, {
      runId: this.#run?.id ?? '',
      state: this.#state,
      node: this.#node,
      firstPos,
      events,
    });
    this.#outlet.update(this.#id, { case: 'run', value: run });
  }
}
