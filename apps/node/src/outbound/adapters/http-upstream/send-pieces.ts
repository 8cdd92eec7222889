import type { Dialect, EventSink } from '@iop/runtime';
import { maxPieceBytes } from './answer.ts';

export interface Sending {
  pieces: Iterator<Piece>;
  dialect: Dialect;
  sink: EventSink;
  /** True: nothing is emitted any more, and `done` is not called. */
  isStopped(): boolean;
  done(): void;
}

export interface Piece {
  bytes: Uint8Array;
  /** It belongs to one event with the next one. */
  more: boolean;
}

/** Emits pieces as raw events, waiting whenever the sink has no room. */
export function sendPieces({ pieces, dialect, sink, isStopped, done }: Sending): void {
  const send = (): void => {
    while (!isStopped()) {
      const next = pieces.next();
      if (next.done) {
        done();
        return;
      }
      if (sink.emit({ kind: 'raw', dialect, ...next.value })) continue;
      sink.whenDrained(send);
      return;
    }
  };
  send();
}

/** A body in pieces that fit a frame. */
export function* bodyPieces(parts: Iterable<Uint8Array>): Generator<Piece> {
  for (const part of parts) {
    for (let at = 0; at < part.length; at += maxPieceBytes) {
      yield { bytes: part.subarray(at, at + maxPieceBytes), more: false };
    }
  }
}

/** Whole events, each in as many pieces as it needs. */
export function* eventPieces(events: Iterable<Uint8Array>): Generator<Piece> {
  for (const event of events) {
    for (let at = 0; at < event.length; at += maxPieceBytes) {
      yield { bytes: event.subarray(at, at + maxPieceBytes), more: at + maxPieceBytes < event.length };
    }
  }
}
