import {
  type RunCompletion,
  type RunRecord,
  type RunStart,
  type RunStore,
  toRecordedEnd,
} from '../ports/run-store.ts';

/** The fake of the history: in memory, without a bound. */
export function createMemoryRunStore(): RunStore {
  const records: RunRecord[] = [];
  return {
    startRun(run: RunStart) {
      records.unshift({ ...run, end: undefined, endedAtMs: undefined });
    },
    completeRun({ runId, attempt, end, endedAtMs }: RunCompletion) {
      const record = records.find((known) => known.runId === runId && known.attempt === attempt);
      if (record !== undefined) Object.assign(record, { end: toRecordedEnd(end), endedAtMs });
    },
    has: ({ runId, attempt }) => records.some((known) => known.runId === runId && known.attempt >= attempt),
    recent: (limit) => records.slice(0, limit),
    flush() {},
    close() {},
  };
}
