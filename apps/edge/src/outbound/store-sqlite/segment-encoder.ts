import { type RunEvents, RunEventsWriter } from '@iop/wire';
import { isOwnEvent, type LogEvent } from '../../ports/run-log.ts';
import { toRunEvent } from '../../run-events/to-wire.ts';
import type { Cell } from './messages.ts';
import type { PendingRun, Piece } from './pending-run.ts';
import { holdsContent, holdsOwn } from './segment-bytes.ts';

/** So that a page of a log can be read without reading much more. */
const longestSegmentBytes = 64 * 1024;

/** Encodes events of many runs into one buffer, which then moves to the store thread. */
export class SegmentEncoder {
  /** Events that no codec takes; their log has a gap instead. */
  refused = 0;
  readonly #writer = new RunEventsWriter();
  #bytes = new Uint8Array(0);
  #used = 0;
  #cells: Cell[] = [];

  /** @param spare a buffer that came back; used if it is large enough */
  begin(sizeBytes: number, spare: Uint8Array<ArrayBuffer> | undefined): void {
    const room = Math.max(smallestBytes, sizeBytes + (sizeBytes >> 2));
    this.#bytes = spare !== undefined && spare.length >= room ? spare : new Uint8Array(room);
    this.#used = 0;
    this.#cells = [];
  }

  /** @param kept -1: not known here */
  add(run: PendingRun, kept: number): void {
    if (run.lastPos === 0) return;
    const head = this.#cells.length;
    const { runId, lastPos, attempt, lastSeq } = run;
    this.#cells.push(runId, kept, lastPos, attempt, lastSeq, Number(run.ended), 0, Number(run.isNewLog));
    let segments = 0;
    for (const segment of toSegments(run.pieces)) segments += this.#addSegment(segment);
    this.#cells[head + 6] = segments;
  }

  end(): { logs: Cell[]; events: Uint8Array<ArrayBuffer> | undefined } {
    const [logs, events] = [this.#cells, this.#bytes];
    this.#bytes = new Uint8Array(0);
    this.#cells = [];
    return { logs, events: logs.length === 0 ? undefined : events };
  }

  /** How many it became: one, unless an event in it is refused. */
  #addSegment({ firstPos, events }: Segment): number {
    const message = toMessage(events);
    const sizeBytes = message === undefined ? -1 : this.#measure(message);
    if (message === undefined || sizeBytes < 0) return this.#addHalves({ firstPos, events });
    this.#reserve(sizeBytes);
    this.#writer.write(message, this.#bytes, this.#used);
    const end = this.#used + sizeBytes;
    this.#cells.push(firstPos, events.length, holdsOf(events), this.#afterHead(), end);
    this.#used = end;
    return 1;
  }

  #addHalves({ firstPos, events }: Segment): number {
    if (events.length === 1) {
      this.refused++;
      return 0;
    }
    const half = events.length >> 1;
    return (
      this.#addSegment({ firstPos, events: events.slice(0, half) }) +
      this.#addSegment({ firstPos: firstPos + half, events: events.slice(half) })
    );
  }

  /** -1: an event of it cannot be encoded. */
  #measure(message: RunEvents): number {
    try {
      return this.#writer.measure(message);
    } catch {
      return -1;
    }
  }

  /** The events lie behind the head of an Envelope: two bytes of tag and a length. */
  #afterHead(): number {
    let at = this.#used + 2;
    while ((this.#bytes[at] as number) > 0x7f) at++;
    return at + 1;
  }

  #reserve(sizeBytes: number): void {
    if (this.#used + sizeBytes <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#used + sizeBytes));
    larger.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = larger;
  }
}

const smallestBytes = 32 * 1024;

interface Segment {
  firstPos: number;
  events: readonly LogEvent[];
}

function toMessage(events: readonly LogEvent[]): RunEvents | undefined {
  try {
    const wire = events.map(toRunEvent);
    return { $typeName: 'iop.wire.v1.RunEvents', runId: '', attempt: 0, firstSeq: 0, events: wire };
  } catch {
    return undefined;
  }
}

/** Joins pieces that follow each other, and cuts what is too long. */
function* toSegments(pieces: readonly Piece[]): Generator<Piece> {
  let open: (Piece & { events: LogEvent[] }) | undefined;
  for (const piece of pieces) {
    const joins = open !== undefined && open.firstPos + open.events.length === piece.firstPos;
    if (open !== undefined && (!joins || open.sizeBytes + piece.sizeBytes > longestSegmentBytes)) {
      yield open;
      open = undefined;
    }
    if (open === undefined) open = { ...piece, events: [...piece.events] };
    else {
      open.events.push(...piece.events);
      open.sizeBytes += piece.sizeBytes;
    }
  }
  if (open !== undefined) yield open;
}

function holdsOf(events: readonly LogEvent[]): number {
  let holds = 0;
  for (const event of events) {
    holds |= isOwnEvent(event) ? holdsOwn : holdsContent;
    if (event.kind === 'end' && event.end.kind === 'failed' && event.end.failure.upstream !== undefined) {
      holds |= holdsContent;
    }
  }
  return holds;
}
