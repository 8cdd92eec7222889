import type { CancelCause, RunEnd, RunState } from '@iop/domain';
import type { RunClass, RunRecord } from '../../ports/run-records.ts';
import type { Cell } from './messages.ts';

/** Columns of `runs` in the order of a row's cells. */
export const runColumns = [
  'run_id',
  'state',
  'door',
  'key_id',
  'asked',
  'adapter',
  'target',
  'node',
  'attempts',
  'created_at',
  'started_at',
  'ended_at',
  'end_json',
  'route',
  'prompt_tokens',
  'completion_tokens',
  'estimated',
  'run_class',
  'stored',
  'last_pos',
  'stop_cause',
  'node_instance',
  'committed',
  'stale',
] as const;

export function pushRunCells(cells: Cell[], record: RunRecord): void {
  const usage = record.end?.usage;
  cells.push(
    record.runId,
    record.state,
    record.door,
    record.keyId,
    record.asked,
    record.adapter,
    record.target,
    record.node,
    record.attempts,
    record.createdAtMs,
    record.startedAtMs ?? null,
    record.endedAtMs ?? null,
    record.end === undefined ? null : encodeEnd(record.end),
    record.route,
    usage?.promptTokens ?? null,
    usage?.completionTokens ?? null,
    usage === undefined ? null : Number(usage.estimated),
    record.runClass,
    Number(record.stored),
    record.lastPos,
    record.stopCause ?? null,
    record.nodeInstance,
    Number(record.committed),
    record.stale,
  );
}

export function fromRunRow(row: Record<string, unknown>): RunRecord {
  return {
    runId: String(row.run_id),
    state: String(row.state) as RunState,
    door: String(row.door),
    keyId: String(row.key_id),
    asked: String(row.asked),
    adapter: String(row.adapter),
    target: String(row.target),
    node: String(row.node),
    attempts: Number(row.attempts),
    route: String(row.route),
    createdAtMs: Number(row.created_at),
    startedAtMs: optionalNumber(row.started_at),
    endedAtMs: optionalNumber(row.ended_at),
    end: typeof row.end_json === 'string' ? (JSON.parse(row.end_json) as RunEnd) : undefined,
    runClass: String(row.run_class) as RunClass,
    stored: Number(row.stored) === 1,
    lastPos: Number(row.last_pos),
    stopCause: row.stop_cause === null ? undefined : (String(row.stop_cause) as CancelCause),
    nodeInstance: String(row.node_instance),
    committed: Number(row.committed) === 1,
    stale: String(row.stale),
  };
}

/** Without what the upstream answered: that is content, and a record is metadata. */
export function encodeEnd(end: RunEnd): string {
  if (end.kind !== 'failed' || end.failure.upstream === undefined) return JSON.stringify(end);
  const { upstream, ...failure } = end.failure;
  const details = { ...failure.details, upstreamStatus: upstream.status };
  return JSON.stringify({ ...end, failure: { ...failure, details } });
}

function optionalNumber(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
