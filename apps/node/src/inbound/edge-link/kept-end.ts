import type { RunEnd } from '@iop/domain';
import type { RunOutbox } from '@iop/link';
import {
  decodeMessage,
  encodeMessage,
  fromEndEvent,
  type RunEvent,
  type RunEvents,
  runEventPayloadBytes,
  toEndEvent,
} from '@iop/wire';
import type { AttemptRef, KeptEnd, TailPart } from '../../ports/end-store.ts';

const partBytes = 256 * 1024;

/** What was read back: `events` from `firstSeq` on without a hole, the last one is the end. */
export interface RestoredEnd {
  end: RunEnd;
  firstSeq: number;
  events: readonly RunEvent[];
}

export function endEventOf(end: RunEnd): RunEvent {
  return { $typeName: 'iop.wire.v1.RunEvent', kind: { case: 'end', value: toEndEvent(end) } };
}

/** The end of an attempt, and all that its outbox has not been acked for. */
export function toKeptEnd(outbox: RunOutbox, end: RunEnd, endedAtMs: number): KeptEnd {
  const { runId, attempt, firstKeptSeq } = outbox;
  const lastSeq = outbox.ended ? outbox.lastSeq : outbox.lastSeq + 1;
  const events = outbox.unacked().slice(0, lastSeq - firstKeptSeq);
  const toBytes = (firstSeq: number, part: RunEvent[]): Uint8Array =>
    encodeMessage({
      case: 'runEvents',
      value: { $typeName: 'iop.wire.v1.RunEvents', runId, attempt, firstSeq, events: part },
    });
  const tail: TailPart[] = [];
  let firstSeq = firstKeptSeq;
  for (const part of partsOf(events)) {
    const nextSeq = firstSeq + part.length;
    tail.push({ firstSeq, lastSeq: nextSeq - 1, bytes: toBytes(firstSeq, part) });
    firstSeq = nextSeq;
  }
  return { runId, attempt, lastSeq, end: toBytes(lastSeq, [endEventOf(end)]), tail, endedAtMs };
}

/** Undefined: this version cannot read the end. Of the tail it takes what it can, from the end backwards. */
export function fromKeptEnd(kept: KeptEnd): RestoredEnd | undefined {
  const [last] = readEvents(kept, { firstSeq: kept.lastSeq, lastSeq: kept.lastSeq, bytes: kept.end }) ?? [];
  if (last?.kind.case !== 'end') return undefined;
  const parts: (readonly RunEvent[])[] = [[last]];
  let firstSeq = kept.lastSeq;
  for (const part of kept.tail.toReversed()) {
    const events = readEvents(kept, part);
    if (events === undefined) break;
    parts.unshift(events);
    firstSeq = part.firstSeq;
  }
  return { end: fromEndEvent(last.kind.value), firstSeq, events: parts.flat() };
}

function* partsOf(events: readonly RunEvent[]): Generator<RunEvent[]> {
  let part: RunEvent[] = [];
  let sizeBytes = 0;
  for (const event of events) {
    part.push(event);
    sizeBytes += runEventPayloadBytes(event);
    if (sizeBytes < partBytes) continue;
    yield part;
    part = [];
    sizeBytes = 0;
  }
  if (part.length > 0) yield part;
}

function readEvents(
  ref: AttemptRef,
  { firstSeq, lastSeq, bytes }: TailPart,
): readonly RunEvent[] | undefined {
  const batch = decodeEvents(bytes);
  if (batch?.runId !== ref.runId || batch.attempt !== ref.attempt) return undefined;
  return batch.firstSeq === firstSeq && batch.events.length === lastSeq - firstSeq + 1
    ? batch.events
    : undefined;
}

function decodeEvents(bytes: Uint8Array): RunEvents | undefined {
  try {
    const message = decodeMessage(bytes);
    return message.case === 'runEvents' ? message.value : undefined;
  } catch {
    return undefined;
  }
}
