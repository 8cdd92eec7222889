import type { Dialect, EventSink } from '@iop/runtime';

export interface Sending {
  pieces: Iterator<Uint8Array>;
  dialect: Dialect;
  sink: EventSink;
  /** True: nothing is emitted any more, and `done` is not called. */
  isStopped(): boolean;
  done(): void;
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
      if (sink.emit({ kind: 'raw', dialect, bytes: next.value, more: false })) continue;
      sink.whenDrained(send);
      return;
    }
  };
  send();
}
