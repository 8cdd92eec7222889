import { create, UsageGroup, type UsageRequest, UsageRequestSchema, type UsageRow } from '@iop/wire';

export const usageGroups = ['key', 'model', 'node'] as const;

export interface UsageFilter {
  /** What the sums are over; default: key. */
  by?: (typeof usageGroups)[number];
  /** Runs created since then, milliseconds since 1970; undefined: all that is known. */
  sinceMs?: number;
}

/** Sums over ended runs. */
export interface UsageView {
  /** Id of a key or name of an operator; a model's name or `adapter/target`; a Node's name. */
  group: string;
  runs: number;
  failed: number;
  cancelled: number;
  promptTokens: number;
  completionTokens: number;
  /** Runs whose tokens were counted by IOP, because the upstream did not say. */
  estimated: number;
  /** Runs that nobody gave tokens for. */
  unmeasured: number;
}

export function toUsageRequest({ by = 'key', sinceMs }: UsageFilter): UsageRequest {
  const group = { key: UsageGroup.KEY, model: UsageGroup.MODEL, node: UsageGroup.NODE }[by];
  return create(UsageRequestSchema, {
    group,
    since: sinceMs === undefined ? '' : String(Math.floor(sinceMs)),
  });
}

export function toUsageView(row: UsageRow): UsageView {
  const { group, runs, failed, cancelled, estimated, unmeasured } = row;
  const tokens = { promptTokens: Number(row.promptTokens), completionTokens: Number(row.completionTokens) };
  return { group, runs, failed, cancelled, ...tokens, estimated, unmeasured };
}
