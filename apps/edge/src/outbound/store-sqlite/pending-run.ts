import { isOwnEvent, type LogBatch, type LogEvent } from '../../ports/run-log.ts';
import type { RunOrder } from '../../ports/run-orders.ts';
import type { RunRecord } from '../../ports/run-records.ts';
import { eventSizeBytes } from './event-size.ts';

/** Events that follow each other. */
export interface Piece {
  firstPos: number;
  events: readonly LogEvent[];
  sizeBytes: number;
  /** Somebody waits for it, so it is not given up. */
  waitedFor: boolean;
}

export interface Waiter {
  resolve(): void;
  reject(reason: unknown): void;
}

/** All of one run that is not written yet. It is written in one transaction, so its order is kept. */
export class PendingRun {
  readonly runId: string;
  record: RunRecord | undefined;
  order: RunOrder | undefined;
  stale: string | undefined;
  pieces: Piece[] = [];
  /** Of the newest batch, whether its events are kept or not; 0: there is none. */
  lastPos = 0;
  attempt = 0;
  lastSeq = 0;
  ended = false;
  /** Nothing of this log can have been written before. */
  isNewLog = false;
  /** In order of their batches. */
  committed: (() => void)[] = [];
  waiters: Waiter[] = [];
  /** Of all pieces, and of those that may be given up. */
  sizeBytes = 0;
  givableBytes = 0;
  /** Rank in the line; a newer state of a run keeps its place. */
  rank: number;

  constructor(runId: string, rank: number) {
    this.runId = runId;
    this.rank = rank;
  }

  get isWaitedFor(): boolean {
    return this.committed.length > 0 || this.waiters.length > 0;
  }

  append(batch: LogBatch): void {
    const { firstPos, events, committed } = batch;
    this.isNewLog ||= firstPos === 1;
    const waitedFor = committed !== undefined;
    if (batch.keepContent) this.#add(toPiece(firstPos, events, waitedFor));
    else for (const piece of ownPieces(firstPos, events)) this.#add(piece);
    this.lastPos = firstPos + events.length - 1;
    if (batch.attempt > 0) {
      this.attempt = batch.attempt;
      this.lastSeq = batch.lastSeq;
    }
    this.ended ||= events.at(-1)?.kind === 'end';
    if (committed !== undefined) this.committed.push(committed);
  }

  /** Forgets content that nobody waits for; the Edge's own events stay. Returns how many events went. */
  giveUp(): number {
    let lost = 0;
    const pieces = this.pieces;
    this.pieces = [];
    this.sizeBytes = 0;
    this.givableBytes = 0;
    for (const piece of pieces) {
      if (piece.waitedFor) this.#add(piece);
      else {
        const own = ownPieces(piece.firstPos, piece.events);
        for (const each of own) this.#add(each);
        lost += piece.events.length - own.length;
      }
    }
    return lost;
  }

  /** Puts what could not be written back in front of what has come since. */
  putBehind(earlier: PendingRun): void {
    const later = this.pieces;
    this.pieces = [];
    this.sizeBytes = 0;
    this.givableBytes = 0;
    for (const piece of [...earlier.pieces, ...later]) this.#add(piece);
    this.isNewLog = false;
    this.record ??= earlier.record;
    this.order ??= earlier.order;
    this.stale ??= earlier.stale;
    this.committed = [...earlier.committed, ...this.committed];
    this.rank = earlier.rank;
    this.ended ||= earlier.ended;
    if (this.lastPos === 0) this.lastPos = earlier.lastPos;
    if (this.attempt === 0) {
      this.attempt = earlier.attempt;
      this.lastSeq = earlier.lastSeq;
    }
  }

  #add(piece: Piece): void {
    if (piece.events.length === 0) return;
    this.pieces.push(piece);
    this.sizeBytes += piece.sizeBytes;
    // what is the Edge's own is small and stays
    if (!piece.waitedFor && !piece.events.every(isOwnEvent)) this.givableBytes += piece.sizeBytes;
  }
}

function toPiece(firstPos: number, events: readonly LogEvent[], waitedFor: boolean): Piece {
  let sizeBytes = 0;
  for (const event of events) sizeBytes += eventSizeBytes(event);
  return { firstPos, events, sizeBytes, waitedFor };
}

/** The Edge's own events among others, each with its pos. */
function ownPieces(firstPos: number, events: readonly LogEvent[]): Piece[] {
  const pieces: Piece[] = [];
  for (const [index, event] of events.entries()) {
    if (isOwnEvent(event)) pieces.push(toPiece(firstPos + index, [withoutUpstream(event)], false));
  }
  return pieces;
}

/** What the upstream answered is content. */
function withoutUpstream(event: LogEvent): LogEvent {
  if (event.kind !== 'end' || event.end.kind !== 'failed') return event;
  const { upstream, ...failure } = event.end.failure;
  return upstream === undefined ? event : { kind: 'end', end: { ...event.end, failure } };
}
