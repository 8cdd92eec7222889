import { IopError, isRunEndState, type RunEnd, type RunState } from '@iop/domain';
import { fromEndEvent, fromWireRunState, type OperatorUpdate, type RunEvent } from '@iop/wire';
import type { RunUpdate } from './started-run.ts';

/** Updates that wait to be read. Unbounded: the reader is a program of the operator, not a peer. */
export class UpdateQueue implements AsyncIterable<RunUpdate> {
  readonly #tellsStates: boolean;
  readonly #waiting: RunUpdate[] = [];
  #state: RunState | undefined;
  #node = '';
  #ended = false;
  #failure: IopError | undefined;
  #wake: () => void = () => {};

  /** @param tellsStates false: its events say all, as those of a watch do */
  constructor(tellsStates: boolean) {
    this.#tellsStates = tellsStates;
  }

  receive(update: OperatorUpdate['update']): void {
    if (this.#ended) return;
    if (update.case === 'gap') {
      const { fromPos, toPos } = update.value;
      this.#waiting.push({ kind: 'gap', fromPos, toPos });
    }
    if (update.case === 'run') {
      const { state, node, events, firstPos } = update.value;
      if (this.#tellsStates) this.#noteState(fromWireRunState(state), node);
      for (const [index, event] of events.entries()) this.#noteEvent(event, firstPos + index);
    }
    this.#wake();
  }

  /** No more will come. Without an end that is a failure: a cut run must not look whole. */
  close(reason: IopError | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = reason ?? noEnd();
    this.#wake();
  }

  /** The end was told in another way. */
  closeWith(end: RunEnd, pos: number): void {
    this.#ended = true;
    this.#failure = undefined;
    this.#waiting.push({ kind: 'end', pos, end });
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<RunUpdate> {
    for (;;) {
      yield* this.#waiting.splice(0);
      if (this.#waiting.length > 0) continue;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return;
      await this.#more();
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
    this.#waiting.push({ kind: 'end', pos, end: fromEndEvent(event.kind.value) });
  }
}

function noEnd(): IopError {
  return new IopError({
    kind: 'unavailable',
    code: 'operator.no-end',
    message: 'the Edge stopped telling of the run before its end; `iop runs` shows what became of it',
  });
}
