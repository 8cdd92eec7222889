import { LiveMap } from '@iop/domain';
import { PendingRun } from './pending-run.ts';

/** Runs with something to write, oldest first, within bounds. */
export class PendingRuns {
  /** Records that were given up because the store could not take them. */
  droppedRecords = 0;
  /** Events of which only a gap is left, for the same reason. */
  lostEvents = 0;
  readonly #runs = new LiveMap<string, PendingRun>();
  readonly #bounds: PendingBounds;
  #givableBytes = 0;
  #nextRank = 1;
  /** Runs that somebody waits for. */
  #waited = 0;

  constructor(bounds: PendingBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Bytes of content that nobody waits for. */
  get givableBytes(): number {
    return this.#givableBytes;
  }

  /** Somebody waits for one of them. */
  get hasWaited(): boolean {
    return this.#waited > 0;
  }

  /** Of the newest run that was ever entered. */
  get newestRank(): number {
    return this.#nextRank - 1;
  }

  /** Ranks below are not waiting here. */
  get oldestRank(): number {
    for (const run of this.#runs.values()) return run.rank;
    return Number.POSITIVE_INFINITY;
  }

  get(runId: string): PendingRun | undefined {
    return this.#runs.get(runId);
  }

  /** Changes what waits of a run, entering it if need be. */
  change(runId: string, work: (run: PendingRun) => void): void {
    let run = this.#runs.get(runId);
    if (run === undefined) {
      run = new PendingRun(runId, this.#nextRank++);
      this.#runs.set(runId, run);
    }
    const before = run.givableBytes;
    const wasWaitedFor = run.isWaitedFor;
    work(run);
    if (!wasWaitedFor && run.isWaitedFor) this.#waited++;
    this.#givableBytes += run.givableBytes - before;
    this.#keepBounds();
  }

  /** Takes out the oldest, as much as one transaction should hold; or only those that somebody waits for. */
  take(which: 'all' | 'waited-for', limit: { runs: number; bytes: number }): PendingRun[] {
    const taken: PendingRun[] = [];
    let sizeBytes = 0;
    for (const run of this.#runs.values()) {
      if (taken.length >= limit.runs || sizeBytes >= limit.bytes) break;
      if (which === 'waited-for' && run.waiters.length === 0) continue;
      taken.push(run);
      sizeBytes += run.sizeBytes;
      this.#givableBytes -= run.givableBytes;
      if (run.isWaitedFor) this.#waited--;
      this.#runs.delete(run.runId);
    }
    return taken;
  }

  /** What could not be written is the oldest again. */
  putBack(runs: readonly PendingRun[]): void {
    const all = new Map(runs.map((run) => [run.runId, run]));
    // whether they were written after all is not known
    for (const run of runs) run.isNewLog = false;
    for (const run of this.#runs.values()) {
      const earlier = all.get(run.runId);
      if (earlier !== undefined) run.putBehind(earlier);
      all.set(run.runId, run);
    }
    this.#runs.clear();
    for (const run of [...all.values()].sort((a, b) => a.rank - b.rank)) this.#runs.set(run.runId, run);
    [this.#givableBytes, this.#waited] = [0, 0];
    for (const run of this.#runs.values()) {
      this.#givableBytes += run.givableBytes;
      if (run.isWaitedFor) this.#waited++;
    }
    this.#keepBounds();
  }

  #keepBounds(): void {
    if (this.#givableBytes > this.#bounds.bytes) this.#giveUpContent();
    if (this.#runs.size > this.#bounds.runs) this.#dropOldest();
  }

  /** A quarter more than it must, so that it is not done for each batch. */
  #giveUpContent(): void {
    for (const run of this.#runs.values()) {
      if (this.#givableBytes <= this.#bounds.bytes * 0.75) return;
      if (run.givableBytes === 0) continue;
      this.#givableBytes -= run.givableBytes;
      this.lostEvents += run.giveUp();
      this.#givableBytes += run.givableBytes;
    }
  }

  #dropOldest(): void {
    for (const run of this.#runs.values()) {
      if (this.#runs.size <= this.#bounds.runs) return;
      if (run.isWaitedFor) continue;
      this.#runs.delete(run.runId);
      this.#givableBytes -= run.givableBytes;
      this.droppedRecords++;
    }
  }
}

export interface PendingBounds {
  runs: number;
  /** Of content that nobody waits for. */
  bytes: number;
}
