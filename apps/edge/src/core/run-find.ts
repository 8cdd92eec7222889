import type { RunRecord } from '../ports/run-records.ts';
import type { RunRef } from './door.ts';
import type { Run, RunContext } from './run.ts';

/** A run of somebody else looks as if it did not exist. */
export function liveRun(ctx: RunContext, { runId, keyId }: RunRef): Run | undefined {
  const run = ctx.active.get(runId);
  return run !== undefined && (keyId === undefined || run.keyId === keyId) ? run : undefined;
}

export function isVisible(record: RunRecord | undefined, { keyId }: RunRef): record is RunRecord {
  return record !== undefined && (keyId === undefined || record.keyId === keyId);
}
