import { LiveMap } from '@iop/domain';
import type { Attempt } from './attempt.ts';

/**
 * The attempts that live on this Node, one per run: a later attempt fences the earlier one, which is
 * told to stop and is no longer found here.
 */
export class AttemptTable {
  readonly #byRun = new LiveMap<string, Attempt>();
  /** Fenced ones whose work has not stopped yet. */
  readonly #fenced = new Set<Attempt>();

  get size(): number {
    return this.#byRun.size + this.#fenced.size;
  }

  /** @param attempt 0: whichever there is */
  find(runId: string, attempt: number): Attempt | undefined {
    const found = this.#byRun.get(runId);
    return found !== undefined && (attempt === 0 || found.request.attempt === attempt) ? found : undefined;
  }

  /** False: this or a later attempt of the run is here already. */
  add(attempt: Attempt): boolean {
    const { runId } = attempt.request;
    const known = this.#byRun.get(runId);
    if (known !== undefined) {
      if (known.request.attempt >= attempt.request.attempt) return false;
      this.fence(known);
    }
    this.#byRun.set(runId, attempt);
    return true;
  }

  fence(attempt: Attempt): void {
    this.#byRun.delete(attempt.request.runId);
    this.#fenced.add(attempt);
    attempt.stop({ kind: 'cancel', by: 'superseded' });
  }

  remove(attempt: Attempt): void {
    if (!this.#fenced.delete(attempt)) this.#byRun.delete(attempt.request.runId);
  }

  isFenced(attempt: Attempt): boolean {
    return this.#fenced.has(attempt);
  }

  *[Symbol.iterator](): Generator<Attempt> {
    yield* this.#byRun.values();
    yield* this.#fenced;
  }
}
