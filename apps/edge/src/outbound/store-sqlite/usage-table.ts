import type { DatabaseSync } from 'node:sqlite';
import { formatRunId } from '@iop/domain';
import type { UsageGroup, UsageQuery, UsageSum } from '../../ports/run-records.ts';

/** Sums of usage over runs that have records and over those that had. */
export interface UsageTable {
  sum(query: UsageQuery): UsageSum[];
  /** Adds the runs that are deleted in the same transaction to their days. */
  rollUp(range: PrunedRange): void;
  forgetDaysBefore(day: number): void;
}

/** Runs after one id up to another; kept ones only before a third. */
export interface PrunedRange {
  after: string;
  upTo: string;
  keptBefore: string;
}

/** Which of its ended runs go. */
export const prunable = `
  run_id > ?1 AND run_id <= ?2 AND ended_at IS NOT NULL
  AND ((run_class = 'attached' AND stored = 0) OR run_id < ?3)`;

const dayMs = 86_400_000;

const modelOf = `CASE WHEN asked <> '' THEN asked ELSE adapter || '/' || target END`;
const sumsOfRuns = `
  COUNT(*) AS runs, SUM(state = 'failed') AS failed, SUM(state = 'cancelled') AS cancelled,
  COALESCE(SUM(prompt_tokens), 0) AS prompt_tokens, COALESCE(SUM(completion_tokens), 0) AS completion_tokens,
  COALESCE(SUM(estimated), 0) AS estimated, SUM(prompt_tokens IS NULL) AS unmeasured`;
const columns = [
  'runs',
  'failed',
  'cancelled',
  'prompt_tokens',
  'completion_tokens',
  'estimated',
  'unmeasured',
];

const ofRuns: Readonly<Record<UsageGroup, string>> = { key: 'key_id', model: modelOf, node: 'node' };
const ofDays: Readonly<Record<UsageGroup, string>> = { key: 'key_id', model: 'model', node: 'node' };

export function createUsageTable(db: DatabaseSync): UsageTable {
  const rollUp = db.prepare(`
    INSERT INTO usage_days (day, key_id, model, node, ${columns.join(', ')})
    SELECT created_at / ${dayMs}, key_id, ${modelOf}, node, ${sumsOfRuns}
    FROM runs WHERE ${prunable} GROUP BY 1, 2, 3, 4
    ON CONFLICT DO UPDATE SET ${columns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`);
  const forget = db.prepare('DELETE FROM usage_days WHERE day < ?');

  return {
    sum({ group, sinceMs }) {
      const sql = `
        SELECT grouped, ${columns.map((column) => `SUM(${column}) AS ${column}`).join(', ')} FROM (
          SELECT ${ofRuns[group]} AS grouped, ${sumsOfRuns}
          FROM runs WHERE run_id >= ? AND ended_at IS NOT NULL GROUP BY 1
          UNION ALL
          SELECT ${ofDays[group]} AS grouped, ${columns.join(', ')} FROM usage_days WHERE day >= ?
        ) GROUP BY grouped ORDER BY SUM(prompt_tokens) + SUM(completion_tokens) DESC, SUM(runs) DESC, grouped`;
      // ids sort by creation
      const from = sinceMs === 0 ? '' : formatRunId(sinceMs, new Uint8Array(10));
      return db
        .prepare(sql)
        .all(from, Math.floor(sinceMs / dayMs))
        .map(fromRow);
    },
    rollUp: ({ after, upTo, keptBefore }) => void rollUp.run(after, upTo, keptBefore),
    forgetDaysBefore: (day) => void forget.run(day),
  };
}

function fromRow(row: Record<string, unknown>): UsageSum {
  return {
    group: String(row.grouped),
    runs: Number(row.runs),
    failed: Number(row.failed),
    cancelled: Number(row.cancelled),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    estimated: Number(row.estimated),
    unmeasured: Number(row.unmeasured),
  };
}
