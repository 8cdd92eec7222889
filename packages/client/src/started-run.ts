import { IopError, isRunEndState, type RunEnd, type RunState } from '@iop/domain';
import { fromEndEvent, fromWireRunState, type OperatorUpdate, type RunEvent } from '@iop/wire';

/** A run to be started. Attached: it lives while this client looks. */
export interface RunOrder {
  adapter: string;
  target: string;
  /** Undefined: any Node. */
  node?: string;
  /** Shape of the body: `openai.chat`. */
  dialect: string;
  /** At most 512 KiB. */
  body: Uint8Array;
  stream: boolean;
  includeUsage?: boolean;
  /** 0 or undefined: the Edge's own limit. */
  deadlineMs?: number;
}

/** What an owner sees of its run, in order; `end` is the last. */
export type RunUpdate =
  | { kind: 'state'; state: RunState; node: string }
  | { kind: 'event'; pos: number; event: RunEvent }
  | { kind: 'end'; end: RunEnd };

export interface StartedRun {
  readonly runId: string;
  /** Can be read once. Throws `unavailable` when the link is lost before the end. */
  readonly updates: AsyncIterable<RunUpdate>;
  /** Asks the Edge to stop the run; `end` still comes, after the work has stopped. */
  cancel(): Promise<void>;
  /** Looks no longer; the Edge then cancels the run, since nobody owns it. */
  leave(): void;
}

/** Updates that wait to be read. Unbounded: the reader is a program of the operator, not a peer. */
export class UpdateQueue implements AsyncIterable<RunUpdate> {
  readonly #waiting: RunUpdate[] = [];
  #state: RunState | undefined;
  #node = '';
  #ended = false;
  #failure: IopError | undefined;
  #wake: () => void = () => {};

  receive(update: OperatorUpdate['update']): void {
    if (update.case !== 'run' || this.#ended) return;
    const { state, node, events, firstPos } = update.value;
    this.#noteState(fromWireRunState(state), node);
    for (const [index, event] of events.entries()) this.#noteEvent(event, firstPos + index);
    this.#wake();
  }

  /** No more will come. Without an end that is a failure: a cut run must not look whole. */
  close(reason: IopError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = reason ?? noEnd();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<RunUpdate> {
    for (;;) {
      yield* this.#waiting.splice(0);
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended && this.#waiting.length === 0) return;
      if (this.#waiting.length === 0) await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #noteState(state: RunState, node: string): void {
    // The end itself says how it ended.
    if (isRunEndState(state) || (state === this.#state && node === this.#node)) return;
    this.#state = state;
    this.#node = node;
    this.#waiting.push({ kind: 'state', state, node });
  }

  #noteEvent(event: RunEvent, pos: number): void {
    if (event.kind.case !== 'end') {
      this.#waiting.push({ kind: 'event', pos, event });
      return;
    }
    this.#ended = true;
    this.#waiting.push({ kind: 'end', end: fromEndEvent(event.kind.value) });
  }
}

function noEnd(): IopError {
  return new IopError({
    kind: 'unavailable',
    code: 'operator.no-end',
    message: 'the Edge stopped telling of the run before its end; `iop runs` shows what became of it',
  });
}
