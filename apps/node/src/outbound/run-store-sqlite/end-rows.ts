import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { AttemptRef, KeptEnd, TailPart } from '../../ports/end-store.ts';

export interface EndRowsLimits {
  maxAgeMs: number;
  maxBytes: number;
}

/** `end`: undefined if it cannot be read. `isCut`: something that was kept cannot be read. */
export interface FoundEnd {
  ref: AttemptRef;
  end: KeptEnd | undefined;
  isCut: boolean;
}

/** The rows of ends and their tails. Each carries a checksum, because SQLite does not see a flipped bit. */
export class EndRows {
  readonly #insertEnd: StatementSync;
  readonly #insertPart: StatementSync;
  readonly #deleteEnd: StatementSync;
  readonly #deleteParts: StatementSync;
  readonly #keys: StatementSync;
  readonly #end: StatementSync;
  readonly #parts: StatementSync;
  readonly #sizes: StatementSync;

  constructor(db: DatabaseSync) {
    this.#insertEnd = db.prepare('INSERT INTO kept_ends VALUES (NULL, ?, ?, ?, ?, ?, ?, ?) RETURNING id');
    this.#insertPart = db.prepare('INSERT INTO kept_parts VALUES (?, ?, ?, ?, ?)');
    this.#deleteEnd = db.prepare('DELETE FROM kept_ends WHERE run_id = ? AND attempt = ? RETURNING id');
    this.#deleteParts = db.prepare('DELETE FROM kept_parts WHERE end_id = ?');
    this.#keys = db.prepare('SELECT id, run_id, attempt FROM kept_ends ORDER BY id');
    this.#end = db.prepare('SELECT * FROM kept_ends WHERE id = ?');
    this.#parts = db.prepare('SELECT * FROM kept_parts WHERE end_id = ? ORDER BY first_seq DESC');
    this.#sizes = db.prepare('SELECT run_id, attempt, ended_at, size_bytes FROM kept_ends ORDER BY id DESC');
  }

  insert(kept: KeptEnd): void {
    this.delete(kept);
    const { runId, attempt, lastSeq, end, tail, endedAtMs } = kept;
    const sizeBytes = tail.reduce((sum, { bytes }) => sum + bytes.length, end.length);
    const checksum = checksumOf(kept, { firstSeq: lastSeq, lastSeq, bytes: end });
    const row = [runId, attempt, lastSeq, Math.round(endedAtMs), sizeBytes, end, checksum];
    const id = Number(this.#insertEnd.get(...row)?.id);
    for (const part of tail) {
      const { firstSeq, lastSeq: last, bytes } = part;
      this.#insertPart.run(id, firstSeq, last, bytes, checksumOf(kept, part));
    }
  }

  delete({ runId, attempt }: AttemptRef): void {
    const id = this.#deleteEnd.get(runId, attempt)?.id;
    if (id !== undefined) this.#deleteParts.run(id);
  }

  /** Those beyond the bounds; the newest is never one of them. */
  excess(nowMs: number, { maxAgeMs, maxBytes }: EndRowsLimits): readonly AttemptRef[] {
    const excess: AttemptRef[] = [];
    let sizeBytes = 0;
    for (const [at, row] of this.#sizes.all().entries()) {
      sizeBytes += Number(row.size_bytes);
      const isOver = sizeBytes > maxBytes || nowMs - Number(row.ended_at) > maxAgeMs;
      if (at > 0 && isOver) excess.push({ runId: String(row.run_id), attempt: Number(row.attempt) });
    }
    return excess;
  }

  /** Oldest first; a row that cannot be read costs no other (B4). */
  *find(): Generator<FoundEnd> {
    for (const { id, run_id, attempt } of this.#keys.all()) {
      const ref = { runId: String(run_id), attempt: Number(attempt) };
      const end = readable(() => this.#readEnd(Number(id), ref));
      if (end === undefined) yield { ref, end, isCut: true };
      else yield this.#withTail(Number(id), end);
    }
  }

  #readEnd(id: number, ref: AttemptRef): KeptEnd | undefined {
    const row = this.#end.get(id);
    const lastSeq = Number(row?.last_seq);
    const end = row?.bytes as Uint8Array;
    if (row?.checksum !== checksumOf(ref, { firstSeq: lastSeq, lastSeq, bytes: end })) return undefined;
    return { ...ref, lastSeq, end, tail: [], endedAtMs: Number(row.ended_at) };
  }

  /** From the end backwards, as far as it goes on without a hole. */
  #withTail(id: number, end: KeptEnd): FoundEnd {
    const tail: TailPart[] = [];
    let isCut = true;
    readable(() => {
      let nextSeq = end.lastSeq;
      for (const row of this.#parts.iterate(id)) {
        const part = {
          firstSeq: Number(row.first_seq),
          lastSeq: Number(row.last_seq),
          bytes: row.bytes as Uint8Array,
        };
        if (part.lastSeq !== nextSeq - 1 || row.checksum !== checksumOf(end, part)) return;
        tail.unshift(part);
        nextSeq = part.firstSeq;
      }
      isCut = false;
    });
    return { ref: end, end: { ...end, tail }, isCut };
  }
}

/** Over what a row is and where it belongs, so that a flipped bit in its numbers is seen as well. */
function checksumOf({ runId, attempt }: AttemptRef, { firstSeq, lastSeq, bytes }: TailPart): number {
  return crc32(bytes, crc32(`${runId}/${attempt}/${firstSeq}-${lastSeq}`));
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
