import type { LogEvent, LogPage } from '../ports/run-log.ts';

/** What a watcher sees of a run whose content is not kept. */
const tailBytes = 64 * 1024;

interface Piece {
  firstPos: number;
  events: readonly LogEvent[];
  sizeBytes: number;
}

/** The newest events of a run in memory, for runs whose content is not kept on the disk. */
export class LogTail {
  #pieces: Piece[] = [];
  #sizeBytes = 0;

  add(events: readonly LogEvent[], { firstPos, sizeBytes }: { firstPos: number; sizeBytes: number }): void {
    this.#pieces.push({ firstPos, events, sizeBytes });
    this.#sizeBytes += sizeBytes;
    let dropped = 0;
    while (this.#sizeBytes > tailBytes && dropped < this.#pieces.length - 1) {
      this.#sizeBytes -= this.#pieces[dropped]?.sizeBytes ?? 0;
      dropped++;
    }
    if (dropped > 0) this.#pieces.splice(0, dropped);
  }

  /** The oldest piece that is here and reaches beyond `afterPos`. */
  read(afterPos: number): LogPage {
    for (const { firstPos, events } of this.#pieces) {
      const lastPos = firstPos + events.length - 1;
      if (lastPos <= afterPos) continue;
      const known = Math.max(0, afterPos + 1 - firstPos);
      return { firstPos: firstPos + known, events: known === 0 ? events : events.slice(known) };
    }
    return { firstPos: afterPos + 1, events: [] };
  }
}
