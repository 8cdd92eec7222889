import { toIopError } from '@iop/domain';
import { toFailure, type WatchRunResponse } from '@iop/wire';
import type { OperatorEdge, Response } from '../../operator-requests/question.ts';
import { RunWatch, type WatchOptions } from '../../operator-requests/run-watch.ts';
import type { OperatorOutlet } from './operator-outlet.ts';

/**
 * A run that an operator's link looks at: its window is given back only as the link drains, so that a peer that
 * does not read holds up nobody.
 */
export class LinkWatch {
  readonly #id: number;
  readonly #outlet: OperatorOutlet;
  readonly #onEnd: () => void;
  #watch: RunWatch | undefined;
  #left = false;

  constructor(id: number, outlet: OperatorOutlet, onEnd: () => void) {
    this.#id = id;
    this.#outlet = outlet;
    this.#onEnd = onEnd;
  }

  async open(
    edge: OperatorEdge,
    options: WatchOptions,
    answer: (response: WatchRunResponse) => Response,
  ): Promise<void> {
    try {
      await this.#open(edge, options, answer);
    } catch (reason) {
      this.#onEnd();
      this.#outlet.answer(this.#id, { case: 'failure', value: toFailure(toIopError(reason)) });
    }
  }

  leave(): void {
    this.#left = true;
    this.#watch?.close();
  }

  async #open(
    edge: OperatorEdge,
    options: WatchOptions,
    answer: (response: WatchRunResponse) => Response,
  ): Promise<void> {
    const outcome = await RunWatch.open(edge, options, {
      update: (update, { sizeBytes }) => {
        this.#outlet.update(this.#id, update);
        if (sizeBytes > 0) this.#outlet.whenDrained(() => this.#watch?.consumed(sizeBytes));
      },
      done: (failure) => {
        this.#onEnd();
        this.#outlet.stop(this.#id, failure);
      },
    });
    if (outcome.kind === 'refused') {
      this.#onEnd();
      this.#outlet.answer(this.#id, { case: 'failure', value: outcome.failure });
      return;
    }
    this.#outlet.answer(this.#id, answer(outcome.response));
    if (outcome.kind === 'at-end') {
      this.#onEnd();
      this.#outlet.stop(this.#id);
      return;
    }
    this.#watch = outcome.watch;
    if (this.#left) outcome.watch.close();
    else outcome.watch.begin();
  }
}
