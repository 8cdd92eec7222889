import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AttemptRef } from '../../ports/end-store.ts';
import { type RunCompletion, type RunRecord, type RunStart, toRecordedEnd } from '../../ports/run-store.ts';
import { fromRow, insertSql, toRow } from './row.ts';

/** While the disk refuses, so many are held; older ones are given up. */
const maxWaiting = 5_000;

/** The rows of the history, and what waits to become one: a run that began and ended meanwhile is one row. */
export class HistoryRows {
  readonly #maxRuns: number;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #trim: StatementSync;
  readonly #recent: StatementSync;
  readonly #known: StatementSync;
  readonly #endOpen: StatementSync;
  #starts = new Map<string, RunStart>();
  #completions = new Map<string, RunCompletion>();

  constructor(db: DatabaseSync, maxRuns: number) {
    this.#maxRuns = maxRuns;
    this.#insert = db.prepare(insertSql);
    this.#update = db.prepare(updateSql);
    this.#trim = db.prepare('DELETE FROM runs WHERE seq <= (SELECT max(seq) FROM runs) - ?');
    this.#recent = db.prepare('SELECT * FROM runs ORDER BY seq DESC LIMIT ?');
    this.#known = db.prepare('SELECT 1 FROM runs WHERE run_id = ? AND attempt >= ? LIMIT 1');
    this.#endOpen = db.prepare(orphanSql);
  }

  get waiting(): number {
    return this.#starts.size + this.#completions.size;
  }

  start(run: RunStart): void {
    this.#starts.set(keyOf(run), run);
  }

  complete(run: RunCompletion): void {
    this.#completions.set(keyOf(run), run);
  }

  /** Inside a transaction; `written` once it is committed. */
  write(): void {
    for (const [key, start] of this.#starts) this.#insert.run(...toRow(start, this.#completions.get(key)));
    for (const [key, { runId, attempt, end, endedAtMs }] of this.#completions) {
      if (this.#starts.has(key)) continue;
      const { kind, reason, message, promptTokens, completionTokens } = toRecordedEnd(end);
      const tokens = [promptTokens ?? null, completionTokens ?? null];
      this.#update.run(endedAtMs, kind, reason, message, ...tokens, runId, attempt);
    }
    if (this.#starts.size > 0) this.#trim.run(this.#maxRuns);
  }

  written(): void {
    this.#starts = new Map();
    this.#completions = new Map();
  }

  /** The disk has refused: not more than so much is held for later. */
  bound(): void {
    dropOldest(this.#starts);
    dropOldest(this.#completions);
  }

  /** S3. */
  endOpen(endedAtMs: number): void {
    this.#endOpen.run(endedAtMs);
  }

  recent(limit: number): readonly RunRecord[] {
    return this.#recent.all(limit).map(fromRow);
  }

  /** Whether this or a later attempt of the run was begun here. */
  has(ref: AttemptRef): boolean {
    return this.#starts.has(keyOf(ref)) || this.#known.get(ref.runId, ref.attempt) !== undefined;
  }
}

function keyOf({ runId, attempt }: AttemptRef): string {
  return `${runId}/${attempt}`;
}

function dropOldest(waiting: Map<string, unknown>): void {
  for (const key of waiting.keys()) {
    if (waiting.size <= maxWaiting) return;
    waiting.delete(key);
  }
}

const updateSql = `
  UPDATE runs SET ended_at = ?, end_kind = ?, end_reason = ?, end_message = ?, prompt_tokens = ?, completion_tokens = ?
  WHERE run_id = ? AND attempt = ? AND end_kind IS NULL`;

// S3: whatever was open when the last process ended, ended with it.
const orphanSql = `
  UPDATE runs SET ended_at = ?, end_kind = 'failed', end_reason = 'node.restarted',
    end_message = 'iop-node ended while it ran'
  WHERE end_kind IS NULL`;
