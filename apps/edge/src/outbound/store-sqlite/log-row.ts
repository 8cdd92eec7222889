/** A row of `run_logs`. */
export interface LogRow {
  runId: string;
  /** The same in all its segments and in nobody else's; 0: there are none. */
  runNo: number;
  /** Of a stored or detached run, when its log began. */
  kept: boolean;
  lastPos: number;
  attempt: number;
  lastSeq: number;
  ended: boolean;
  /** Of segments with content. */
  bytes: number;
  hasContent: boolean;
  segments: number;
  lastId: number;
}

export function fromLogRow(row: Record<string, unknown>): LogRow {
  return {
    runId: String(row.run_id),
    runNo: Number(row.run_no),
    kept: Number(row.kept) === 1,
    lastPos: Number(row.last_pos),
    attempt: Number(row.attempt),
    lastSeq: Number(row.last_seq),
    ended: Number(row.ended) === 1,
    bytes: Number(row.bytes),
    hasContent: Number(row.has_content) === 1,
    segments: Number(row.segments),
    lastId: Number(row.last_id),
  };
}

export function newLogRow(runId: string, kept: boolean): LogRow {
  const nothing = { lastPos: 0, attempt: 0, lastSeq: 0, bytes: 0, segments: 0, lastId: 0 };
  return { runId, runNo: 0, kept, ended: false, hasContent: false, ...nothing };
}
