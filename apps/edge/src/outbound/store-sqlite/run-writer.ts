import { type Clock, LiveMap } from '@iop/domain';
import type { RunQuery, RunRecord, RunRecords, UsageQuery, UsageSum } from '../../ports/run-records.ts';
import type { Cell } from './messages.ts';
import { pushRunCells } from './run-row.ts';
import type { StoreLink } from './store-link.ts';

/** Records written behind: what was saved last of a run is written, at most `flushAfterMs` later. */
export interface RunWriter extends RunRecords {
  /** Records that were given up because the store could not take them. */
  readonly dropped: number;
  /** Age of the oldest record that is not written; 0: none. */
  lagMs(): number;
  /** Nothing is taken or written any more. */
  stop(): void;
}

export interface RunWriterOptions {
  link: StoreLink;
  clock: Clock;
  flushAfterMs: number;
  /** Records in memory at most. */
  capacity: number;
  onProblem(problem: string | undefined): void;
}

const batchRecords = 2000;
const retryAfterMs = 1000;

export function createRunWriter(options: RunWriterOptions): RunWriter {
  return new WriteBehind(options);
}

class WriteBehind implements RunWriter {
  dropped = 0;
  readonly #options: RunWriterOptions;
  /** Oldest first; a newer state of a run keeps its place. */
  readonly #pending = new LiveMap<string, RunRecord>();
  #oldestMs: number | undefined;
  #armed = false;
  #stopped = false;
  #writing: Promise<void> | undefined;

  constructor(options: RunWriterOptions) {
    this.#options = options;
  }

  save(record: RunRecord): void {
    if (this.#stopped) return;
    const { capacity, clock, flushAfterMs } = this.#options;
    if (this.#pending.size >= capacity && !this.#pending.has(record.runId)) this.#dropOldest();
    this.#pending.set(record.runId, record);
    this.#oldestMs ??= clock.now();
    this.#arm(flushAfterMs);
  }

  async find(runId: string): Promise<RunRecord | undefined> {
    await this.flush();
    return this.#options.link.ask({ kind: 'find-run', runId });
  }

  async list(query: RunQuery): Promise<RunRecord[]> {
    await this.flush();
    return this.#options.link.ask({ kind: 'list-runs', query });
  }

  async usage(query: UsageQuery): Promise<UsageSum[]> {
    await this.flush();
    return this.#options.link.ask({ kind: 'sum-usage', query });
  }

  /** What is saved meanwhile goes behind, so this ends under any load. */
  async flush(): Promise<void> {
    await this.#writing;
    for (let left = this.#pending.size; left > 0; left -= batchRecords) {
      await (this.#writing ?? this.#startWriting());
    }
  }

  lagMs(): number {
    return this.#oldestMs === undefined ? 0 : this.#options.clock.now() - this.#oldestMs;
  }

  stop(): void {
    this.#stopped = true;
  }

  #arm(delayMs: number): void {
    if (this.#armed || this.#stopped || this.#writing !== undefined) return;
    this.#armed = true;
    this.#options.clock.after(delayMs, () => {
      this.#armed = false;
      if (this.#writing === undefined && this.#pending.size > 0 && !this.#stopped) this.#startWriting();
    });
  }

  #startWriting(): Promise<void> {
    const writing = this.#writeBatch();
    // said through onProblem; whoever flushes awaits the same promise
    writing.catch(() => {});
    this.#writing = writing;
    return writing;
  }

  /** One transaction; what failed is pending again, unless something newer is. */
  async #writeBatch(): Promise<void> {
    const { link, flushAfterMs, onProblem } = this.#options;
    const batch = this.#takeBatch();
    const sinceMs = this.#oldestMs;
    this.#oldestMs = this.#pending.size > 0 ? sinceMs : undefined;
    try {
      await link.ask({ kind: 'write-runs', cells: cellsOf(batch) });
      this.#writing = undefined;
      onProblem(undefined);
      if (this.#pending.size > 0) this.#arm(this.#pending.size >= batchRecords ? 0 : flushAfterMs);
    } catch (reason) {
      this.#writing = undefined;
      this.#putBack(batch);
      this.#oldestMs = sinceMs;
      onProblem(reason instanceof Error ? reason.message : String(reason));
      this.#arm(retryAfterMs);
      throw reason;
    }
  }

  #takeBatch(): RunRecord[] {
    const batch: RunRecord[] = [];
    for (const record of this.#pending.values()) {
      if (batch.length >= batchRecords) break;
      batch.push(record);
      this.#pending.delete(record.runId);
    }
    return batch;
  }

  #putBack(batch: readonly RunRecord[]): void {
    const newer = [...this.#pending.values()];
    this.#pending.clear();
    for (const record of [...batch, ...newer]) this.#pending.set(record.runId, record);
    while (this.#pending.size > this.#options.capacity) this.#dropOldest();
  }

  #dropOldest(): void {
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined) this.#pending.delete(oldest);
    this.dropped++;
  }
}

function cellsOf(batch: readonly RunRecord[]): Cell[] {
  const cells: Cell[] = [];
  for (const record of batch) pushRunCells(cells, record);
  return cells;
}
