import { isRunEndState, type LiveMap, type RunState, runStates } from '@iop/domain';
import type { RunQuery, RunRecord, RunRecords } from '../ports/run-records.ts';
import { type Run, recordOf } from './run.ts';

/**
 * Live runs from memory, ended ones from the store, newest first: ids sort by creation.
 *
 * Runs go on while the store is read. One that ends meanwhile is in memory no more and in the store not yet, or
 * in both: so those that lived before are kept at hand, and each id counts once.
 */
export async function listRuns(
  active: LiveMap<string, Run>,
  records: RunRecords,
  query: RunQuery,
): Promise<RunRecord[]> {
  const wanted = query.states.length === 0 ? runStates : query.states;
  const ended: readonly RunState[] = wanted.filter(isRunEndState);
  const livedBefore = [...active.values()];
  const stored = ended.length === 0 ? [] : await records.list({ ...query, states: ended });
  const known = new Set([...livedBefore, ...active.values()]);
  const live = [...known].filter((run) => isWanted(run, wanted, query.before)).map(recordOf);
  const byId = new Map([...stored, ...live].map((record) => [record.runId, record]));
  return [...byId.values()].sort((a, b) => (a.runId < b.runId ? 1 : -1)).slice(0, query.limit);
}

function isWanted(run: Run, states: readonly RunState[], before: string | undefined): boolean {
  return states.includes(run.state) && (before === undefined || run.id < before);
}
