import {
  isOwnEvent,
  type LogBatch,
  type LogEvent,
  type LogPage,
  type LogQuery,
  type RunLog,
} from '../ports/run-log.ts';
import type { Created, Creation, RunOrder, RunOrders } from '../ports/run-orders.ts';
import type { RunRecord } from '../ports/run-records.ts';
import type { createMemoryRunRecords } from './memory-stores.ts';

/** The log of all runs in memory. */
export interface MemoryRunLog extends RunLog {
  /** Everything that was appended of a run, content that is not kept included. */
  of(runId: string): LogEvent[];
  batches(runId: string): LogBatch[];
  /** True: what is waited for is committed as soon as it is appended; false: by `commitAll`. */
  commitsAtOnce: boolean;
  commitAll(): void;
  /** Leaves the Edge's own events. */
  deleteContent(runId: string): void;
}

export function createMemoryRunLog(): MemoryRunLog {
  const runs = new Map<string, LogBatch[]>();
  let waiting: (() => void)[] = [];
  const log: MemoryRunLog = {
    commitsAtOnce: true,
    append(batch) {
      const batches = runs.get(batch.runId) ?? [];
      const nextPos = batches.reduce((pos, each) => pos + each.events.length, 1);
      if (batch.firstPos !== nextPos)
        throw new Error(`${batch.runId}: pos ${batch.firstPos} instead of ${nextPos}`);
      runs.set(batch.runId, [...batches, batch]);
      if (batch.committed !== undefined) waiting.push(batch.committed);
      if (log.commitsAtOnce) queueMicrotask(() => log.commitAll());
    },
    read: async (query) => readPage(runs.get(query.runId) ?? [], query),
    of: (runId) => (runs.get(runId) ?? []).flatMap((batch) => batch.events),
    batches: (runId) => runs.get(runId) ?? [],
    deleteContent(runId) {
      const batches = runs.get(runId) ?? [];
      runs.set(
        runId,
        batches.map((batch) => ({ ...batch, keepContent: false })),
      );
    },
    commitAll() {
      const due = waiting;
      waiting = [];
      for (const committed of due) committed();
    },
  };
  return log;
}

function readPage(batches: readonly LogBatch[], { afterPos, limitBytes }: LogQuery): LogPage {
  const kept = batches.flatMap(({ firstPos, events, keepContent }) =>
    events.map((event, at) => ({
      event: keepContent ? event : withoutUpstream(event),
      pos: firstPos + at,
      isKept: keepContent || isOwnEvent(event),
    })),
  );
  const [first, ...rest] = kept.filter(({ pos, isKept }) => isKept && pos > afterPos);
  if (first === undefined) return { firstPos: afterPos + 1, events: [] };
  const events = [first.event];
  let sizeBytes = sizeOf(first.event);
  for (const { event, pos } of rest) {
    if (pos !== first.pos + events.length || sizeBytes >= limitBytes) break;
    events.push(event);
    sizeBytes += sizeOf(event);
  }
  return { firstPos: first.pos, events };
}

/** What an upstream answered is content. */
function withoutUpstream(event: LogEvent): LogEvent {
  if (event.kind !== 'end' || event.end.kind !== 'failed') return event;
  const { upstream, ...failure } = event.end.failure;
  return { kind: 'end', end: { ...event.end, failure } };
}

function sizeOf(event: LogEvent): number {
  return event.kind === 'raw' ? event.bytes.length : 16;
}

const dayMs = 24 * 3_600_000;

export function createMemoryRunOrders(
  records: ReturnType<typeof createMemoryRunRecords>,
  log?: MemoryRunLog,
): RunOrders & { readonly created: RunRecord[]; failing: string | undefined } {
  const orders = new Map<string, RunOrder>();
  const claims = new Map<string, { runId: string; bodyHash: string; claimedAtMs: number }>();
  const created: RunRecord[] = [];
  return {
    created,
    failing: undefined,
    async create({ record, order, claim }: Creation): Promise<Created> {
      if (this.failing !== undefined) throw new Error(this.failing);
      if (claim !== undefined) {
        const name = `${claim.scope}\0${claim.key}`;
        const known = claims.get(name);
        const { bodyHash, claimedAtMs, replaces } = claim;
        const isHeld = known !== undefined && known.claimedAtMs > claimedAtMs - dayMs;
        if (isHeld && known.runId !== replaces)
          return { kind: 'claimed', runId: known.runId, bodyHash: known.bodyHash };
        claims.set(name, { runId: record.runId, bodyHash, claimedAtMs });
      }
      created.push(record);
      orders.set(order.runId, order);
      records.save(record);
      return { kind: 'created' };
    },
    keep: (order) => void orders.set(order.runId, order),
    find: async (runId) => orders.get(runId),
    async deleteContent(runId) {
      orders.delete(runId);
      log?.deleteContent(runId);
      const record = await records.find(runId);
      if (record !== undefined) records.save({ ...record, stored: false });
    },
  };
}
