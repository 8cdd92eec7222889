import type { DatabaseSync } from 'node:sqlite';
import { posBits } from './log-table.ts';
import { pageHeadBytes, type SegmentPage } from './messages.ts';
import { endOfEvent, skipEvents } from './segment-bytes.ts';

/** Reads logs in pages that end before a gap. */
export interface LogPages {
  /** undefined: nothing is there after that pos. */
  read(runId: string, afterPos: number, limitBytes: number): SegmentPage | undefined;
}

interface Part {
  bytes: Uint8Array;
  count: number;
}

export function createLogPages(db: DatabaseSync): LogPages {
  const runNoOf = db.prepare('SELECT run_no FROM run_logs WHERE run_id = ?');
  const inRun = `id >= ?1 << ${posBits} AND id < ?1 + 1 << ${posBits}`;
  const columns = `id & ${2 ** posBits - 1} AS pos, count, events`;
  /** The segment that may hold an event: the last one that begins no later. */
  const around = db.prepare(
    `SELECT ${columns} FROM run_segments WHERE ${inRun} AND id <= ?1 << ${posBits} | ?2 ORDER BY id DESC LIMIT 1`,
  );
  const behind = db.prepare(
    `SELECT ${columns} FROM run_segments WHERE ${inRun} AND id > ?1 << ${posBits} | ?2 ORDER BY id`,
  );

  function* segmentsFrom(runNo: number, pos: number): Generator<Segment> {
    const holding = around.get(runNo, pos);
    if (holding !== undefined) yield toSegment(holding);
    for (const row of behind.iterate(runNo, pos)) yield toSegment(row);
  }

  return {
    read(runId, afterPos, limitBytes) {
      const row = runNoOf.get(runId);
      if (row === undefined || afterPos + 1 >= 2 ** posBits) return undefined;
      return collect(segmentsFrom(Number(row.run_no), afterPos + 1), afterPos, limitBytes);
    },
  };
}

interface Segment extends Part {
  pos: number;
}

function collect(segments: Iterable<Segment>, afterPos: number, limitBytes: number): SegmentPage | undefined {
  const parts: Part[] = [];
  let [firstPos, nextPos, left] = [0, 0, limitBytes];
  for (const segment of segments) {
    if (segment.pos + segment.count <= afterPos + 1) continue;
    if (parts.length > 0 && segment.pos !== nextPos) break;
    const skip = Math.max(0, afterPos + 1 - segment.pos);
    if (parts.length === 0) firstPos = nextPos = segment.pos + skip;
    const part = takePart(segment, skip, left);
    parts.push(part);
    nextPos += part.count;
    left -= part.bytes.length;
    if (left <= 0 || skip + part.count < segment.count) break;
  }
  return parts.length === 0 ? undefined : { firstPos, count: nextPos - firstPos, bytes: join(parts) };
}

/** One event at least. */
function takePart({ bytes, count }: Part, skip: number, limitBytes: number): Part {
  const start = skipEvents(bytes, skip);
  let [end, taken] = [start, 0];
  while (taken < count - skip && (taken === 0 || end - start < limitBytes)) {
    end = endOfEvent(bytes, end);
    taken++;
  }
  return { bytes: bytes.subarray(start, end), count: taken };
}

function join(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const sizeBytes = parts.reduce((sum, part) => sum + part.bytes.length, 0);
  const joined = new Uint8Array(pageHeadBytes + sizeBytes);
  let at = pageHeadBytes;
  for (const { bytes } of parts) {
    joined.set(bytes, at);
    at += bytes.length;
  }
  return joined;
}

function toSegment(row: Record<string, unknown>): Segment {
  return { pos: Number(row.pos), count: Number(row.count), bytes: row.events as Uint8Array };
}
