import { isRunEndState, type LiveMap, type RunState, runStates } from '@iop/domain';
import type { RunQuery, RunRecord, RunRecords } from '../ports/run-records.ts';
import { type Run, recordOf } from './run.ts';

/** Live runs from memory, ended ones from the store, newest first: ids sort by creation. */
export async function listRuns(
  active: LiveMap<string, Run>,
  records: RunRecords,
  query: RunQuery,
): Promise<RunRecord[]> {
  const wanted = query.states.length === 0 ? runStates : query.states;
  const ended: readonly RunState[] = wanted.filter(isRunEndState);
  const stored = ended.length === 0 ? [] : await records.list({ ...query, states: ended });
  // read after the store: a run that ended meanwhile is in neither twice
  const live = [...active.values()].filter((run) => isWanted(run, wanted, query.before)).map(recordOf);
  const merged = [...live, ...stored].sort((a, b) => (a.runId < b.runId ? 1 : -1));
  return merged.slice(0, query.limit);
}

function isWanted(run: Run, states: readonly RunState[], before: string | undefined): boolean {
  return states.includes(run.state) && (before === undefined || run.id < before);
}
