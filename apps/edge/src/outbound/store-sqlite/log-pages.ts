import type { LogChain } from './log-chain.ts';
import type { LogTable } from './log-table.ts';
import { pageHeadBytes, type SegmentPage } from './messages.ts';
import { endOfEvent, skipEvents } from './segment-bytes.ts';
import type { SegmentRow } from './segment-table.ts';

/** Reads logs in pages that end before a gap. */
export interface LogPages {
  /** undefined: nothing is there after that pos. */
  read(runId: string, afterPos: number, limitBytes: number): SegmentPage | undefined;
}

/** Encoded events that follow each other. */
interface Part {
  firstPos: number;
  count: number;
  bytes: Uint8Array;
}

export function createLogPages(logs: LogTable, chain: LogChain): LogPages {
  return {
    read(runId, afterPos, limitBytes) {
      const log = logs.find(runId);
      if (log === undefined) return undefined;
      const page = new Page(afterPos, limitBytes);
      for (const row of chain.from(log, afterPos + 1)) {
        for (const part of partsOf(row, chain.tableOf(log).events(row.id))) {
          if (!page.take(part)) return page.end();
        }
      }
      return page.end();
    },
  };
}

class Page {
  readonly #parts: Uint8Array[] = [];
  readonly #afterPos: number;
  #left: number;
  #firstPos = 0;
  #nextPos = 0;

  constructor(afterPos: number, limitBytes: number) {
    this.#afterPos = afterPos;
    this.#left = limitBytes;
  }

  /** False: the page is full, or a gap lies before this part. */
  take({ firstPos, count, bytes }: Part): boolean {
    const skipped = Math.max(0, this.#afterPos + 1 - firstPos);
    if (skipped >= count) return true;
    if (this.#parts.length === 0) this.#firstPos = this.#nextPos = firstPos + skipped;
    else if (firstPos !== this.#nextPos) return false;
    const taken = this.#takeSome(bytes, skipped, count - skipped);
    this.#nextPos += taken;
    return taken === count - skipped && this.#left > 0;
  }

  end(): SegmentPage | undefined {
    if (this.#parts.length === 0) return undefined;
    const count = this.#nextPos - this.#firstPos;
    return { firstPos: this.#firstPos, count, bytes: join(this.#parts) };
  }

  /** At least one event of a page. */
  #takeSome(bytes: Uint8Array, skipped: number, count: number): number {
    const start = skipEvents(bytes, skipped);
    let [end, taken] = [start, 0];
    while (taken < count && (end - start < this.#left || (taken === 0 && this.#parts.length === 0))) {
      end = endOfEvent(bytes, end);
      taken++;
    }
    this.#parts.push(bytes.subarray(start, end));
    this.#left -= end - start;
    return taken;
  }
}

/** A segment whose content was taken out is several parts, with gaps between them. */
function* partsOf({ firstPos, count, left }: SegmentRow, bytes: Uint8Array): Generator<Part> {
  if (left === undefined) {
    yield { firstPos, count, bytes };
    return;
  }
  let at = 0;
  for (const place of left) {
    const end = endOfEvent(bytes, at);
    yield { firstPos: firstPos + place, count: 1, bytes: bytes.subarray(at, end) };
    at = end;
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const sizeBytes = parts.reduce((sum, part) => sum + part.length, 0);
  const joined = new Uint8Array(pageHeadBytes + sizeBytes);
  let at = pageHeadBytes;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
