import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import {
  type RecordedEnd,
  type RunCompletion,
  type RunRecord,
  type RunStart,
  toRecordedEnd,
} from '../../ports/run-store.ts';

type Row = Record<string, SQLOutputValue>;

export function toRow(start: RunStart, completion: RunCompletion | undefined): Record<string, SQLInputValue> {
  const end = completion === undefined ? undefined : toRecordedEnd(completion.end);
  return {
    run_id: start.runId,
    attempt: start.attempt,
    run_class: start.runClass,
    adapter: start.adapter,
    target: start.target,
    door: start.door,
    started_at: Math.round(start.startedAtMs),
    ended_at: completion === undefined ? null : Math.round(completion.endedAtMs),
    end_kind: end?.kind ?? null,
    end_reason: end?.reason ?? null,
    end_message: end?.message ?? null,
    prompt_tokens: end?.promptTokens ?? null,
    completion_tokens: end?.completionTokens ?? null,
  };
}

export function fromRow(row: Row): RunRecord {
  return {
    runId: String(row.run_id),
    attempt: Number(row.attempt),
    runClass: row.run_class === 'detached' ? 'detached' : 'attached',
    adapter: String(row.adapter),
    target: String(row.target),
    door: String(row.door),
    startedAtMs: Number(row.started_at),
    endedAtMs: toNumber(row.ended_at),
    end: toEnd(row),
  };
}

function toEnd(row: Row): RecordedEnd | undefined {
  if (row.end_kind === null) return undefined;
  return {
    kind: row.end_kind as RecordedEnd['kind'],
    reason: String(row.end_reason),
    message: String(row.end_message),
    promptTokens: toNumber(row.prompt_tokens),
    completionTokens: toNumber(row.completion_tokens),
  };
}

function toNumber(value: SQLOutputValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
