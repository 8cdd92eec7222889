import type { Clock } from '@iop/domain';
import type { LogBatch } from '../../ports/run-log.ts';
import type { Created, Creation, RunOrder } from '../../ports/run-orders.ts';
import type { RunRecord } from '../../ports/run-records.ts';
import { type AskBatch, Asks, settleAsks, storeClosed } from './asks.ts';
import { DueTimer } from './due-timer.ts';
import type { DurableWrite } from './messages.ts';
import type { PendingRun } from './pending-run.ts';
import { PendingRuns } from './pending-runs.ts';
import { SegmentEncoder } from './segment-encoder.ts';
import type { StoreLink } from './store-link.ts';
import { toWrite, type WritePlan } from './to-write.ts';

/**
 * The one writer of the store: one transaction at a time, whatever comes meanwhile shares the next. What somebody
 * waits for starts at once (FULL), the rest at most `flushAfterMs` later, content `contentAfterMs` (NORMAL).
 *
 * W1: all that is given of one run is written in the order of the calls; what was given in one tick in one transaction.
 * W2: a failed write loses nothing but what was told to have failed; it is tried again until it is written. Bounded
 *     memory: beyond, content that nobody waits for is given up first, records that nobody waits for last.
 * W3: `committed` and the promises of one transaction are settled in the order in which they were given.
 */
export interface GroupWriter {
  save(record: RunRecord): void;
  append(batch: LogBatch): void;
  keep(order: RunOrder): void;
  noteStale(runId: string, words: string): void;
  /** Rejected: it is written later, as if it had been saved. */
  commit(record: RunRecord): Promise<void>;
  create(creation: Creation): Promise<Created>;
  writeDurably(write: DurableWrite): Promise<void>;
  deleteContent(runId: string): Promise<void>;
  /** Resolves when all that was given before, of one run or of all, is written; rejects if it could not be. */
  settle(runId?: string): Promise<void>;
  readonly droppedRecords: number;
  readonly lostEvents: number;
  /** Age of the oldest that is not written; 0: none. */
  lagMs(): number;
  /** Writes all that was given and takes nothing any more; what could not be written is told so. */
  stop(): Promise<void>;
}

export interface GroupWriterOptions {
  link: StoreLink;
  clock: Clock;
  flushAfterMs: number;
  /** For content that nobody waits for: few large segments cost a little less than many small ones. */
  contentAfterMs: number;
  /** Runs that may wait in memory. */
  capacity: number;
  /** Bytes of content that may wait, unless somebody waits for them. */
  capacityBytes: number;
  onProblem(problem: string | undefined): void;
  /** After each write: content of attached runs. */
  onContent(sizeBytes: number): void;
}

interface Flight {
  runs: PendingRun[];
  asks: AskBatch;
  sinceMs: number | undefined;
}

const flightLimit = { runs: 2000, bytes: 4 * 1024 * 1024 };
const retryAfterMs = 1000;
/** A buffer that is larger is not worth keeping. */
const spareBytes = 1024 * 1024;

export function createGroupWriter(options: GroupWriterOptions): GroupWriter {
  return new Writer(options);
}

class Writer implements GroupWriter {
  readonly #options: GroupWriterOptions;
  readonly #pending: PendingRuns;
  readonly #encoder = new SegmentEncoder();
  readonly #asks = new Asks();
  readonly #timer: DueTimer;
  #flight: Flight | undefined;
  #writing: Promise<void> | undefined;
  #spare: Uint8Array<ArrayBuffer> | undefined;
  #oldestMs: number | undefined;
  #isUrged = false;
  #isFailing = false;
  #stopped = false;

  constructor(options: GroupWriterOptions) {
    this.#options = options;
    this.#pending = new PendingRuns({ runs: options.capacity, bytes: options.capacityBytes });
    this.#timer = new DueTimer(options.clock, () => {
      if (this.#writing === undefined && !this.#stopped && this.#hasWork()) this.#startUnheard('all');
    });
  }

  get droppedRecords(): number {
    return this.#pending.droppedRecords;
  }

  get lostEvents(): number {
    return this.#pending.lostEvents + this.#encoder.refused;
  }

  save(record: RunRecord): void {
    this.#change(record.runId, (run) => {
      run.record = record;
    });
  }

  append(batch: LogBatch): void {
    this.#change(batch.runId, (run) => run.append(batch), this.#options.contentAfterMs);
    if (batch.committed !== undefined) this.#urge();
  }

  keep(order: RunOrder): void {
    this.#change(order.runId, (run) => {
      run.order = order;
    });
  }

  noteStale(runId: string, words: string): void {
    this.#change(runId, (run) => {
      run.stale = words;
    });
  }

  commit(record: RunRecord): Promise<void> {
    if (this.#stopped) return Promise.reject(storeClosed());
    return new Promise((resolve, reject) => {
      this.#change(record.runId, (run) => {
        run.record = record;
        run.waiters.push({ resolve, reject });
      });
      this.#urge();
    });
  }

  create(creation: Creation): Promise<Created> {
    return this.#urged(this.#asks.create(creation));
  }

  async writeDurably(write: DurableWrite): Promise<void> {
    await this.#urged(this.#asks.writeDurably(write));
  }

  async deleteContent(runId: string): Promise<void> {
    await this.settle(runId);
    await this.#urged(this.#asks.deleteContent(runId));
  }

  /** What comes meanwhile goes behind, so this ends under any load. */
  async settle(runId?: string): Promise<void> {
    const target = this.#rankOf(runId);
    while (this.#oldestRank() <= target) await (this.#writing ?? this.#start('all'));
  }

  lagMs(): number {
    const sinceMs = this.#flight?.sinceMs ?? this.#oldestMs;
    return sinceMs === undefined ? 0 : this.#options.clock.now() - sinceMs;
  }

  async stop(): Promise<void> {
    try {
      while (this.#writing !== undefined || this.#hasWork()) await (this.#writing ?? this.#start('all'));
    } finally {
      this.#stopped = true;
      this.#timer.stop();
      this.#asks.refuse();
    }
  }

  #urged<T>(asked: Promise<T>): Promise<T> {
    this.#urge();
    return asked;
  }

  #change(runId: string, work: (run: PendingRun) => void, withinMs = this.#options.flushAfterMs): void {
    if (this.#stopped) return;
    this.#pending.change(runId, work);
    this.#oldestMs ??= this.#options.clock.now();
    if (!this.#isFailing) this.#timer.within(this.#isFull() ? 0 : withinMs);
  }

  #rankOf(runId: string | undefined): number {
    if (runId === undefined) return this.#pending.newestRank;
    const flying = this.#flight?.runs.find((run) => run.runId === runId);
    return this.#pending.get(runId)?.rank ?? flying?.rank ?? 0;
  }

  #oldestRank(): number {
    const flying = this.#flight?.runs[0]?.rank ?? Number.POSITIVE_INFINITY;
    return Math.min(flying, this.#pending.oldestRank);
  }

  /** Not within the call, so that what is given in one tick is one transaction. */
  #urge(): void {
    if (this.#stopped) this.#asks.refuse();
    if (this.#isUrged || this.#writing !== undefined || this.#stopped) return;
    this.#isUrged = true;
    this.#options.clock.atTurnEnd(() => {
      this.#isUrged = false;
      if (this.#writing === undefined && !this.#stopped) this.#startUnheard(this.#isFailing ? 'asks' : 'all');
    });
  }

  /** One transaction's worth. */
  #isFull(): boolean {
    return this.#pending.size >= flightLimit.runs || this.#pending.givableBytes >= flightLimit.bytes;
  }

  #hasWork(): boolean {
    return this.#pending.size > 0 || !this.#asks.isEmpty;
  }

  /** What fails is said through onProblem. */
  #startUnheard(which: 'all' | 'asks'): void {
    this.#start(which).catch(() => {});
  }

  /** `asks`: while the disk is away only what somebody wants to know now; the rest is tried by the timer. */
  #start(which: 'all' | 'asks'): Promise<void> {
    const writing = Promise.resolve().then(() => this.#write(this.#takeOff(which)));
    // whoever settles awaits the same promise
    writing.catch(() => {});
    this.#writing = writing;
    return writing;
  }

  #takeOff(which: 'all' | 'asks'): Flight {
    this.#timer.stop();
    const sinceMs = this.#oldestMs;
    const flight = {
      runs: this.#pending.take(which === 'all' ? 'all' : 'waited-for', flightLimit),
      asks: this.#asks.take(),
      sinceMs,
    };
    this.#oldestMs = this.#pending.size > 0 ? sinceMs : undefined;
    this.#flight = flight;
    return flight;
  }

  async #write(flight: Flight): Promise<void> {
    const { link, onProblem, onContent } = this.#options;
    try {
      const { write, buffers } = toWrite(toPlan(flight), this.#encoder, this.#spare);
      this.#spare = undefined;
      const answer = await link.ask({ kind: 'write', write }, buffers);
      this.#landed();
      if (answer.events !== undefined && answer.events.length <= spareBytes) this.#spare = answer.events;
      this.#isFailing = false;
      onProblem(undefined);
      onContent(answer.contentBytes);
      settleAsks(flight.asks, answer.created);
      settleRuns(flight.runs);
    } catch (reason) {
      this.#landed();
      this.#failed(flight, reason);
      throw reason;
    } finally {
      this.#next();
    }
  }

  #landed(): void {
    this.#writing = undefined;
    this.#flight = undefined;
  }

  #failed(flight: Flight, reason: unknown): void {
    this.#isFailing = true;
    this.#timer.stop();
    const waiters = flight.runs.flatMap((run) => run.waiters);
    for (const run of flight.runs) run.waiters = [];
    this.#pending.putBack(flight.runs);
    this.#oldestMs = flight.sinceMs ?? this.#oldestMs;
    this.#options.onProblem(reason instanceof Error ? reason.message : String(reason));
    for (const each of waiters) each.reject(reason);
    this.#asks.failed(flight.asks, reason);
  }

  #next(): void {
    if (this.#writing !== undefined || this.#stopped) return;
    if (this.#isFailing) {
      this.#timer.within(retryAfterMs);
      if (this.#asks.isUrgent) this.#urge();
    } else if (this.#asks.isUrgent || this.#pending.hasWaited) this.#startUnheard('all');
    // its time may have come during the write
    else if (this.#hasWork() && (this.#isFull() || !this.#timer.isArmed)) this.#timer.within(0);
  }
}

function toPlan({ runs, asks: { creations, durable, deletions, discards } }: Flight): WritePlan {
  return {
    runs,
    discards,
    creations: creations.map(({ what }) => what),
    durable: durable.map(({ what }) => what),
    deletions: deletions.map(({ what }) => what),
  };
}

function settleRuns(runs: readonly PendingRun[]): void {
  for (const run of runs) {
    for (const committed of run.committed) committed();
    for (const waiter of run.waiters) waiter.resolve();
  }
}
