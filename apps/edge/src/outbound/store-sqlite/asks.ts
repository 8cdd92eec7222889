import { IopError } from '@iop/domain';
import type { Created, Creation } from '../../ports/run-orders.ts';
import type { DurableWrite } from './messages.ts';
import { isUnanswered } from './store-link.ts';

/** Something that is written once or fails; somebody waits for it. */
interface Ask<T> {
  what: T;
  resolve(value: Created | undefined): void;
  reject(reason: unknown): void;
}

/** What goes into one transaction. */
export interface AskBatch {
  creations: Ask<Creation>[];
  durable: Ask<DurableWrite>[];
  deletions: Ask<string>[];
  /** Runs whose creation failed, nobody knows whether before it was written or after. */
  discards: string[];
}

const creationsAtOnce = 500;

/** Unlike what waits of runs, these are not tried again: whoever asked is told and may. */
export class Asks {
  #waiting: AskBatch = emptyBatch();

  /** Somebody waits. */
  get isUrgent(): boolean {
    const { creations, durable, deletions } = this.#waiting;
    return creations.length + durable.length + deletions.length > 0;
  }

  get isEmpty(): boolean {
    return !this.isUrgent && this.#waiting.discards.length === 0;
  }

  create(creation: Creation): Promise<Created> {
    return this.#ask(this.#waiting.creations, creation) as Promise<Created>;
  }

  writeDurably(write: DurableWrite): Promise<unknown> {
    return this.#ask(this.#waiting.durable, write);
  }

  deleteContent(runId: string): Promise<unknown> {
    return this.#ask(this.#waiting.deletions, runId);
  }

  take(): AskBatch {
    const taken = this.#waiting;
    this.#waiting = { ...emptyBatch(), creations: taken.creations.splice(creationsAtOnce) };
    return taken;
  }

  /** A refused creation that was written after all must not be there: it is deleted before anything else. */
  failed(batch: AskBatch, reason: unknown): void {
    const { discards } = this.#waiting;
    discards.push(...batch.discards);
    if (isUnanswered(reason)) discards.push(...batch.creations.map(({ what }) => what.record.runId));
    rejectAll(batch, reason);
  }

  /** Nobody waits for ever. */
  refuse(): void {
    const { discards } = this.#waiting;
    const refused = this.#waiting;
    this.#waiting = { ...emptyBatch(), discards };
    rejectAll(refused, storeClosed());
  }

  #ask<T>(line: Ask<T>[], what: T): Promise<Created | undefined> {
    return new Promise((resolve, reject) => line.push({ what, resolve, reject }));
  }
}

/** @param created one for each creation of the batch */
export function settleAsks(batch: AskBatch, created: readonly Created[]): void {
  for (const [index, each] of batch.creations.entries()) each.resolve(created[index]);
  for (const each of [...batch.durable, ...batch.deletions]) each.resolve(undefined);
}

function rejectAll({ creations, durable, deletions }: AskBatch, reason: unknown): void {
  for (const each of [...creations, ...durable, ...deletions]) each.reject(reason);
}

export function storeClosed(): IopError {
  const message = 'the store is closed';
  return new IopError({ kind: 'unavailable', code: 'store.unavailable', message });
}

function emptyBatch(): AskBatch {
  return { creations: [], durable: [], deletions: [], discards: [] };
}
