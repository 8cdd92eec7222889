import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '@iop/domain';
import type { AttemptRef, KeptEnd } from '../../ports/end-store.ts';
import type { Log } from '../../ports/log.ts';
import { EndRows, type EndRowsLimits } from './end-rows.ts';
import { transact } from './transact.ts';

export interface KeptEndsOptions {
  file: string;
  clock: Clock;
  log: Log;
  ends: EndRowsLimits;
}

/** The ends in the store, those that wait to be deleted, and what has to be said about them. */
export class KeptEnds {
  readonly #db: DatabaseSync;
  readonly #rows: EndRows;
  readonly #options: KeptEndsOptions;
  #forgotten: AttemptRef[] = [];

  constructor(db: DatabaseSync, options: KeptEndsOptions) {
    this.#db = db;
    this.#rows = new EndRows(db);
    this.#options = options;
  }

  get waiting(): number {
    return this.#forgotten.length;
  }

  forget(ref: AttemptRef): void {
    this.#forgotten.push(ref);
  }

  /** Inside a transaction; `written` once it is committed. */
  write(ends: readonly KeptEnd[]): void {
    for (const ref of this.#forgotten) this.#rows.delete(ref);
    for (const end of ends) this.#rows.insert(end);
  }

  written(): void {
    this.#forgotten = [];
  }

  /** B4: what is unreadable is told, and deleted with the next write. */
  find(): readonly KeptEnd[] {
    const kept: KeptEnd[] = [];
    const forgotten = new Set(this.#forgotten.map(keyOf));
    for (const { ref, end, isCut } of this.#rows.find()) {
      if (forgotten.has(keyOf(ref))) continue;
      if (isCut) this.#tellDamage(ref, end);
      if (end === undefined) this.forget(ref);
      else kept.push(end);
    }
    return kept;
  }

  /** B5. */
  giveUp(): void {
    const { clock, log, ends } = this.#options;
    const excess = this.#rows.excess(clock.wall(), ends);
    if (excess.length === 0) return;
    transact(this.#db, 'NORMAL', () => {
      for (const ref of excess) this.#rows.delete(ref);
    });
    for (const { runId: run, attempt } of excess) {
      log.warn({ run, attempt, ...ends }, 'an end that no edge has taken is no longer kept');
    }
  }

  #tellDamage({ runId: run, attempt }: AttemptRef, end: KeptEnd | undefined): void {
    const { file, log } = this.#options;
    const firstSeq = end?.tail[0]?.firstSeq ?? end?.lastSeq;
    const what = end === undefined ? 'the end of a run' : 'events before the end of a run';
    log.error({ file, run, attempt, firstSeq }, `${what} cannot be read any more`);
  }
}

function keyOf({ runId, attempt }: AttemptRef): string {
  return `${runId}/${attempt}`;
}
