import type { CreateOutcome, RunCreation, RunDoor, RunRef, StartOutcome } from '../core/door.ts';
import { Cursor, type CursorSource } from '../core/run-cursor.ts';
import type { RunRecord } from '../ports/run-records.ts';
import type { PlayedRun } from './played-run.ts';

export interface ScriptedDoorInit {
  runs: readonly PlayedRun[];
  refusal(): Exclude<StartOutcome, { kind: 'accepted' }> | undefined;
  begin(creation: RunCreation): PlayedRun;
}

/** What doors ask about runs that are kept, answered from what the test has played. */
export function createScriptedDoor({ runs, refusal, begin }: ScriptedDoorInit): RunDoor {
  const deleted = new Set<string>();
  const find = ({ runId, keyId }: RunRef) =>
    runs.find((run) => run.id === runId && (keyId === undefined || run.intent.keyId === keyId));
  return {
    async create(creation) {
      return refusal() ?? repeated(runs, creation) ?? { kind: 'created', runId: begin(creation).id };
    },
    async open({ afterPos, owns, ...ref }, reader) {
      const run = find(ref);
      if (run === undefined) return { kind: 'unknown-run' };
      const record = recordOf(run);
      if (run.ended !== undefined && afterPos > run.log.length)
        return { kind: 'past-end', lastPos: run.log.length };
      if (run.ended !== undefined && afterPos === run.log.length) return { kind: 'at-end', record };
      const cursor = new Cursor({ source: sourceOf(run), reader, afterPos, owns });
      run.cursors.add(cursor);
      return { kind: 'opened', cursor, record };
    },
    async findRun(ref) {
      const run = find(ref);
      return run === undefined || deleted.has(run.id) ? undefined : recordOf(run);
    },
    async runOrder(ref) {
      const run = find(ref);
      if (run === undefined || deleted.has(run.id)) return undefined;
      const { select, dialect, body, stream, includeUsage, raw, asked } = run.creation;
      return { runId: run.id, select, dialect, body, stream, includeUsage, raw, asked, deadlineMs: 0 };
    },
    async cancelRun(ref, by) {
      const run = find(ref);
      if (run === undefined) return { kind: 'unknown-run' };
      if (run.ended !== undefined) return { kind: 'already-ended', state: run.ended.kind };
      run.cancel(by);
      return { kind: 'taken', state: 'stopping' };
    },
    async deleteRun(ref) {
      const run = find(ref);
      if (run === undefined || deleted.has(run.id)) return { kind: 'unknown-run' };
      if (run.ended === undefined) return { kind: 'not-ended' };
      deleted.add(run.id);
      return { kind: 'deleted' };
    },
    mayStore: () => true,
  };
}

function repeated(
  runs: readonly PlayedRun[],
  { idempotency, keyId }: RunCreation,
): CreateOutcome | undefined {
  if (idempotency === undefined) return undefined;
  const { key, bodyHash } = idempotency;
  const known = runs.find(({ creation }) => creation.keyId === keyId && creation.idempotency?.key === key);
  if (known === undefined) return undefined;
  if (known.creation.idempotency?.bodyHash !== bodyHash)
    return { kind: 'key-conflict', key, runId: known.id };
  return { kind: 'repeated', runId: known.id };
}

function sourceOf(run: PlayedRun): CursorSource {
  return {
    runId: run.id,
    shownPos: () => run.log.length,
    read: (afterPos) => ({ firstPos: afterPos + 1, events: run.log.slice(afterPos, afterPos + 100) }),
    closed(cursor) {
      run.cursors.delete(cursor);
      if (cursor.owns && run.creation.runClass !== 'detached' && run.ended === undefined)
        run.cancel('caller');
    },
  };
}

function recordOf({ id, creation, ended, log }: PlayedRun): RunRecord {
  return {
    runId: id,
    state: ended?.kind ?? 'running',
    door: creation.door,
    keyId: creation.keyId,
    asked: creation.select.kind === 'model' ? creation.select.model : '',
    adapter: 'vllm',
    target: 'Qwen/Qwen3-8B',
    node: 'gpu-1',
    attempts: 1,
    route: 'only candidate',
    createdAtMs: 1_764_000_000_000,
    startedAtMs: undefined,
    endedAtMs: ended === undefined ? undefined : 1_764_000_001_000,
    end: ended,
    runClass: creation.runClass ?? 'attached',
    stored: creation.stored ?? creation.runClass === 'detached',
    lastPos: log.length,
    stopCause: undefined,
    nodeInstance: 'one',
    committed: log.length > 1,
    stale: '',
  };
}
