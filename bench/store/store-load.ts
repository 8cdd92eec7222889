import { performance } from 'node:perf_hooks';
import type { LogEvent, RunLog } from '../../apps/edge/src/ports/run-log.ts';

/** Detached runs whose Nodes send small batches: each batch is acknowledged when it is committed. */
export interface StoreLoad {
  runs: number;
  eventsPerBatch: number;
  eventBytes: number;
  /** Over all runs, offered at a constant rate: what comes late is charged from when it was due. */
  eventsPerS: number;
  durationMs: number;
  /** Part of the ids of its runs. */
  salt: string;
}

export interface LoadFigures {
  eventsPerS: number;
  lagP50Ms: number;
  lagP99Ms: number;
}

const tickMs = 2;

/** Resolves when the last batch is committed. */
export async function playLoad(
  log: RunLog,
  load: StoreLoad,
  onCommitted: (runId: string, pos: number) => void = () => {},
): Promise<LoadFigures> {
  const player = new Player(log, load, onCommitted);
  const batchMs = (1000 * load.eventsPerBatch) / load.eventsPerS;
  const batches = Math.floor(load.durationMs / batchMs);
  const startMs = performance.now();
  for (let batch = 0; batch < batches; ) {
    const due = Math.min(batches, Math.floor((performance.now() - startMs) / batchMs));
    for (; batch < due; batch++) player.send(startMs + batch * batchMs);
    await new Promise((resolve) => setTimeout(resolve, tickMs));
  }
  while (player.committed < batches) await new Promise((resolve) => setTimeout(resolve, tickMs));
  const tookS = (performance.now() - startMs) / 1000;
  return { eventsPerS: (batches * load.eventsPerBatch) / tookS, ...lagsOf(player.lagsMs) };
}

class Player {
  committed = 0;
  readonly lagsMs: number[] = [];
  readonly #log: RunLog;
  readonly #load: StoreLoad;
  readonly #onCommitted: (runId: string, pos: number) => void;
  readonly #events: readonly LogEvent[];
  #sent = 0;

  constructor(log: RunLog, load: StoreLoad, onCommitted: (runId: string, pos: number) => void) {
    this.#log = log;
    this.#load = load;
    this.#onCommitted = onCommitted;
    this.#events = Array.from({ length: load.eventsPerBatch }, () => eventOf(load.eventBytes));
  }

  /** The next batch, of one run after another. */
  send(dueMs: number): void {
    const { runs, eventsPerBatch, salt } = this.#load;
    const runId = runIdOf(salt, this.#sent % runs);
    const firstPos = Math.floor(this.#sent / runs) * eventsPerBatch + 1;
    const lastSeq = firstPos + eventsPerBatch - 1;
    this.#sent++;
    const committed = () => {
      this.committed++;
      this.lagsMs.push(performance.now() - dueMs);
      this.#onCommitted(runId, lastSeq);
    };
    this.#log.append({
      runId,
      firstPos,
      events: this.#events,
      attempt: 1,
      lastSeq,
      keepContent: true,
      committed,
    });
  }
}

function lagsOf(lagsMs: number[]): { lagP50Ms: number; lagP99Ms: number } {
  const sorted = lagsMs.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { lagP50Ms: at(0.5), lagP99Ms: at(0.99) };
}

function eventOf(sizeBytes: number): LogEvent {
  return { kind: 'raw', dialect: 'openai.chat', bytes: new Uint8Array(sizeBytes).fill(97), more: false };
}

function runIdOf(salt: string, run: number): string {
  return `run_${salt.padEnd(21, '0')}${String(run).padStart(5, '0')}`;
}
