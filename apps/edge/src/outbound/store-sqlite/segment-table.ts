import type { DatabaseSync } from 'node:sqlite';

/** Segments of logs, appended in the order of writing. */
export interface SegmentTable {
  /** Of the segment that is appended next. */
  readonly nextId: number;
  append(segment: NewSegment): number;
  get(id: number): SegmentRow | undefined;
  events(id: number): Uint8Array;
  delete(id: number): void;
  /** Another one is before it now. */
  relink(id: number, previous: number): void;
  /** Only some of its events are left. */
  rewrite(id: number, left: readonly number[], events: Uint8Array): void;
  /** After a rollback. */
  forgetCache(): void;
}

export interface NewSegment {
  runNo: number;
  previous: number;
  firstPos: number;
  count: number;
  holds: number;
  events: Uint8Array;
}

/** A segment without its bytes. */
export interface SegmentRow {
  id: number;
  runNo: number;
  previous: number;
  firstPos: number;
  count: number;
  holds: number;
  /** Which of the events are left; undefined: all. */
  left: readonly number[] | undefined;
  sizeBytes: number;
}

export function createSegmentTable(db: DatabaseSync, name: string): SegmentTable {
  const newest = db.prepare(`SELECT max(id) AS id FROM ${name}`);
  const insert = db.prepare(
    `INSERT INTO ${name} (id, run_no, previous, first_pos, count, holds, events) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = db.prepare(
    `SELECT run_no, previous, first_pos, count, holds, left_json, length(events) AS size FROM ${name} WHERE id = ?`,
  );
  const events = db.prepare(`SELECT events FROM ${name} WHERE id = ?`);
  const remove = db.prepare(`DELETE FROM ${name} WHERE id = ?`);
  const relink = db.prepare(`UPDATE ${name} SET previous = ? WHERE id = ?`);
  const rewrite = db.prepare(`UPDATE ${name} SET left_json = ?, holds = 1, events = ? WHERE id = ?`);
  const newestId = () => Number(newest.get()?.id ?? 0);
  let lastId = newestId();

  return {
    get nextId() {
      return lastId + 1;
    },
    append({ runNo, previous, firstPos, count, holds, events: bytes }) {
      insert.run(++lastId, runNo, previous, firstPos, count, holds, bytes);
      return lastId;
    },
    get(id) {
      const row = find.get(id);
      return row === undefined ? undefined : toSegmentRow(id, row);
    },
    events: (id) => events.get(id)?.events as Uint8Array,
    delete: (id) => void remove.run(id),
    relink: (id, previous) => void relink.run(previous, id),
    rewrite: (id, left, bytes) => void rewrite.run(JSON.stringify(left), bytes, id),
    forgetCache() {
      lastId = newestId();
    },
  };
}

function toSegmentRow(id: number, row: Record<string, unknown>): SegmentRow {
  return {
    id,
    runNo: Number(row.run_no),
    previous: Number(row.previous),
    firstPos: Number(row.first_pos),
    count: Number(row.count),
    holds: Number(row.holds),
    left: typeof row.left_json === 'string' ? (JSON.parse(row.left_json) as number[]) : undefined,
    sizeBytes: Number(row.size),
  };
}
