import type { RunEvent } from './gen/iop/wire/v1/run_pb.ts';

/** What every event takes of a window besides its text and bytes, so that empty ones are not free. */
export const eventOverheadBytes = 16;

/**
 * What an event takes of the credit, the same on both sides: its bytes and the UTF-16 units of its
 * texts, plus `eventOverheadBytes`. The end is free: it must reach the reader with no credit left.
 */
export function runEventSizeBytes(event: RunEvent): number {
  const kind = event.kind;
  if (kind.case === 'raw') return eventOverheadBytes + kind.value.data.length;
  if (kind.case === 'end') return 0;
  if (kind.case === undefined) return eventOverheadBytes;
  return eventOverheadBytes + payloadSize(kind.value);
}

/** About what an event adds to a frame: as `runEventSizeBytes`, but the end has a size too. */
export function runEventPayloadBytes(event: RunEvent): number {
  const { kind } = event;
  if (kind.case !== 'end') return runEventSizeBytes(event);
  const { end } = kind.value;
  if (end.case !== 'failed') return eventOverheadBytes;
  const { failure, upstream } = end.value;
  return eventOverheadBytes + (failure?.message.length ?? 0) + (upstream?.body.length ?? 0);
}

/** Own enumerable texts and bytes, one level deep: no kind but `end` nests any. */
function payloadSize(value: object): number {
  let size = 0;
  for (const [key, field] of Object.entries(value)) {
    if (key.startsWith('$')) continue;
    if (typeof field === 'string' || field instanceof Uint8Array) size += field.length;
  }
  return size;
}
