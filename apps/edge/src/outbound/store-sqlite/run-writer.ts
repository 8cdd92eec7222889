import type { Clock } from '@iop/domain';
import type { RunQuery, RunRecord, RunRecords } from '../../ports/run-records.ts';
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
  const { link, clock, onProblem } = options;
  const pending = new Map<string, RunRecord>();
  let oldestMs: number | undefined;
  let armed = false;
  let writing: Promise<void> | undefined;
  let dropped = 0;
  let stopped = false;

  function save(record: RunRecord): void {
    if (stopped) return;
    if (pending.size >= options.capacity && !pending.has(record.runId)) dropOldest();
    pending.set(record.runId, record);
    oldestMs ??= clock.now();
    arm(options.flushAfterMs);
  }

  function dropOldest(): void {
    const [oldest] = pending.keys();
    if (oldest !== undefined) pending.delete(oldest);
    dropped++;
  }

  function arm(delayMs: number): void {
    if (armed || stopped || writing !== undefined) return;
    armed = true;
    clock.after(delayMs, () => {
      armed = false;
      if (writing === undefined && pending.size > 0 && !stopped) startWriting();
    });
  }

  function startWriting(): Promise<void> {
    writing = writeBatch();
    // said through onProblem; whoever flushes awaits the same promise
    writing.catch(() => {});
    return writing;
  }

  /** One transaction; what failed is pending again, unless something newer is. */
  async function writeBatch(): Promise<void> {
    const batch = takeBatch();
    const sinceMs = oldestMs;
    oldestMs = pending.size > 0 ? sinceMs : undefined;
    try {
      await link.ask({ kind: 'write-runs', cells: cellsOf(batch) });
      writing = undefined;
      onProblem(undefined);
      if (pending.size > 0) arm(pending.size >= batchRecords ? 0 : options.flushAfterMs);
    } catch (reason) {
      writing = undefined;
      putBack(batch);
      oldestMs = sinceMs;
      onProblem(reason instanceof Error ? reason.message : String(reason));
      arm(retryAfterMs);
      throw reason;
    }
  }

  function takeBatch(): RunRecord[] {
    const batch: RunRecord[] = [];
    for (const [runId, record] of pending) {
      if (batch.length >= batchRecords) break;
      batch.push(record);
      pending.delete(runId);
    }
    return batch;
  }

  function putBack(batch: readonly RunRecord[]): void {
    const newer = [...pending.values()];
    pending.clear();
    for (const record of [...batch, ...newer]) pending.set(record.runId, record);
    while (pending.size > options.capacity) dropOldest();
  }

  /** What is saved meanwhile goes behind, so this ends under any load. */
  async function flush(): Promise<void> {
    await writing;
    for (let left = pending.size; left > 0; left -= batchRecords) {
      await (writing ?? startWriting());
    }
  }

  return {
    save,
    flush,
    async find(runId: string) {
      await flush();
      return link.ask({ kind: 'find-run', runId });
    },
    async list(query: RunQuery) {
      await flush();
      return link.ask({ kind: 'list-runs', query });
    },
    get dropped() {
      return dropped;
    },
    lagMs: () => (oldestMs === undefined ? 0 : clock.now() - oldestMs),
    stop() {
      stopped = true;
    },
  };
}

function cellsOf(batch: readonly RunRecord[]): Cell[] {
  const cells: Cell[] = [];
  for (const record of batch) pushRunCells(cells, record);
  return cells;
}
