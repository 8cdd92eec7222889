import { IopError } from '@iop/domain';
import { type RunEvent, runEventSizeBytes } from '@iop/wire';
import { maxPayloadBytes } from './pump.ts';

/** UTF-16 units of an event that fits: at most 48 KiB of UTF-8. */
const maxTextUnits = 16 * 1024;
/** Of its text in a piece; leaves room for an event's names. */
const pieceTextUnits = maxTextUnits - 1024;
/** Of its bytes. */
const maxPieceBytes = maxPayloadBytes - 1024;

/** Whether an event must be split before it is sent (L20). Cheap for the hot kind. */
export function isOversized(event: RunEvent): boolean {
  const { kind } = event;
  if (kind.case === 'raw') return kind.value.data.length > maxPieceBytes;
  if (kind.case === 'end') return false;
  return runEventSizeBytes(event) > maxTextUnits;
}

/**
 * The same event in pieces that fit a frame. Bytes are cut anywhere (`more` says that a piece is not the last),
 * texts between code points.
 * @throws IopError `invalid`, code `event.too-large`, for a kind that has no pieces
 */
export function splitEvent(event: RunEvent): RunEvent[] {
  const { kind } = event;
  switch (kind.case) {
    case 'raw': {
      const { dialect, data, more } = kind.value;
      return cutBytes(data).map((piece, at, all) =>
        toEvent({
          case: 'raw',
          value: { ...kind.value, dialect, data: piece, more: more || at < all.length - 1 },
        }),
      );
    }
    case 'log':
      return cutBytes(kind.value.data).map((data) =>
        toEvent({ case: 'log', value: { ...kind.value, data } }),
      );
    case 'artifact':
      return cutBytes(kind.value.data).map((data, at, all) =>
        toEvent({
          case: 'artifact',
          value: { ...kind.value, data, last: kind.value.last && at === all.length - 1 },
        }),
      );
    case 'text':
      return cutText(kind.value.text).map((text) =>
        toEvent({ case: 'text', value: { ...kind.value, text } }),
      );
    case 'reasoning':
      return cutText(kind.value.text).map((text) =>
        toEvent({ case: 'reasoning', value: { ...kind.value, text } }),
      );
    case 'toolCall':
      return cutText(kind.value.argumentsJson).map((argumentsJson) =>
        toEvent({ case: 'toolCall', value: { ...kind.value, argumentsJson } }),
      );
    default:
      return [wholeOrThrow(event)];
  }
}

function toEvent(kind: RunEvent['kind']): RunEvent {
  return { $typeName: 'iop.wire.v1.RunEvent', kind };
}

function cutBytes(data: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < data.length || at === 0; at += maxPieceBytes) {
    pieces.push(data.subarray(at, at + maxPieceBytes));
  }
  return pieces;
}

function cutText(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length || at === 0; ) {
    let end = Math.min(at + pieceTextUnits, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(at, end));
    at = end;
    if (text.length === 0) break;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function wholeOrThrow(event: RunEvent): RunEvent {
  const sizeBytes = runEventSizeBytes(event);
  if (sizeBytes * 3 <= maxPayloadBytes) return event;
  throw new IopError({
    kind: 'invalid',
    code: 'event.too-large',
    message: `an event of kind ${event.kind.case} with ${sizeBytes} bytes cannot be split; the limit is ${Math.floor(maxPayloadBytes / 3)}`,
  });
}
