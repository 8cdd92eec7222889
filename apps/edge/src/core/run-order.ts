import type { RunOrder } from '../ports/run-orders.ts';
import type { Run } from './run.ts';

/** What is kept of what a run was asked for. */
export function orderOf(run: Run, { asked }: { asked?: Uint8Array }): RunOrder {
  const { id: runId, select, dialect, body, stream, includeUsage, raw } = run;
  return { runId, select, dialect, body, stream, includeUsage, raw, deadlineMs: run.limitMs, asked };
}
