import type { RunEnd } from '@iop/domain';
import type { LogReader, RunCursor } from '../../core/door.ts';
import type { LogEvent } from '../../ports/run-log.ts';
import type { Refusal } from '../http/refusal.ts';
import type { KeptResponse } from './kept-response.ts';
import { missingResponse } from './response-refusals.ts';
import { ResponseWriter } from './response-writer.ts';
import { type Called, storeAway } from './responses-port.ts';

export type LogRead = { kind: 'read'; writer: ResponseWriter } | { kind: 'broken'; refusal: Refusal };

export interface ReadWish {
  /** `now`: what has happened already. */
  until: 'now' | 'end';
  /** What has not come by then is left out. */
  waitMs: number;
}

/** Reads what the log of a response holds, for an answer that shows it as it stands. */
export async function readLog(
  called: Called,
  kept: KeptResponse,
  { until, waitMs }: ReadWish,
): Promise<LogRead> {
  const { edge, keyId, port } = called;
  const lastPos = until === 'end' ? Number.POSITIVE_INFINITY : kept.record.lastPos;
  const reading = new LogReading(kept, lastPos);
  const cancelWait = port.clock.after(waitMs, () => reading.stop());
  try {
    const { runId } = kept.identity;
    const outcome = await edge.open({ runId, afterPos: 0, owns: false, keyId }, reading);
    if (outcome.kind === 'opened') reading.opened(outcome.cursor);
    else if (outcome.kind === 'store-unavailable')
      return { kind: 'broken', refusal: storeAway(outcome.detail) };
    else return { kind: 'broken', refusal: missingResponse(kept.identity.id) };
    const end = await reading.done;
    return reading.refusal
      ? { kind: 'broken', refusal: reading.refusal }
      : await finish(called, reading, end);
  } finally {
    cancelWait();
  }
}

async function finish(
  called: Called,
  { writer, kept }: LogReading,
  end: RunEnd | undefined,
): Promise<LogRead> {
  if (end === undefined) return { kind: 'read', writer };
  const { edge, keyId, port } = called;
  const isKnown = kept.record.endedAtMs !== undefined;
  const record = isKnown ? kept.record : await edge.findRun({ runId: kept.identity.runId, keyId });
  writer.finish(end, Math.floor((record?.endedAtMs ?? port.clock.wall()) / 1000));
  return { kind: 'read', writer };
}

class LogReading implements LogReader {
  readonly kept: KeptResponse;
  readonly writer: ResponseWriter;
  /** The end of the run, if it was read. */
  readonly done: Promise<RunEnd | undefined>;
  refusal: Refusal | undefined;
  readonly #lastPos: number;
  readonly #resolve: (end: RunEnd | undefined) => void;
  #cursor: RunCursor | undefined;
  #isOver = false;

  constructor(kept: KeptResponse, lastPos: number) {
    this.kept = kept;
    this.writer = new ResponseWriter(kept.identity);
    this.#lastPos = lastPos;
    const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
    this.done = promise;
    this.#resolve = resolve;
    this.writer.begin();
    if (lastPos === 0) this.stop();
  }

  opened(cursor: RunCursor): void {
    this.#cursor = cursor;
    if (this.#isOver) cursor.close();
    else cursor.start();
  }

  push(events: readonly LogEvent[], firstPos: number, sizeBytes: number): void {
    if (this.#isOver) return;
    for (const event of events) this.writer.take(event);
    const last = events.at(-1);
    const isEnough = firstPos + events.length > this.#lastPos;
    if (last?.kind === 'end') this.#finish(last.end);
    else if (isEnough) this.stop();
    else this.#cursor?.consumed(sizeBytes);
  }

  gap(): void {
    const message = 'A part of this answer is gone, so it cannot be shown.';
    this.refusal = { status: 410, message, type: 'server_error', code: 'event.gap' };
    this.stop();
  }

  broken(detail: string): void {
    this.refusal = storeAway(detail);
    this.stop();
  }

  stop(): void {
    this.#finish(undefined);
  }

  #finish(end: RunEnd | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cursor?.close();
    this.#resolve(end);
  }
}
