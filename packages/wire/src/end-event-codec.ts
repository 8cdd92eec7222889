import { isAscii } from './ascii-memo.ts';
import type { EndEvent, RunEvent } from './gen/iop/wire/v1/run_pb.ts';
import { isUint32, sizeOfBytes, sizeOfUint, writeText, writeUint } from './proto-bytes.ts';
import type { ProtoCursor } from './proto-cursor.ts';

/**
 * The end of a run that completed, by hand: it comes with every short answer. Other ends, and sizes of 128
 * bytes and more, are left to the generated codec. Same bytes, same values (differential fuzz test).
 */
const longestBytes = 0x7f;

/** Size of the RunEvent, or -1: not for the fast path. */
export function measureEnd(end: EndEvent): number {
  const size = sizeOfEnd(end);
  return size < 0 || size > longestBytes ? -1 : 2 + size;
}

/** What `measureEnd` measured. */
export function writeEnd(target: Uint8Array, start: number, end: EndEvent): number {
  target[start] = 0x72; // field 14
  target[start + 1] = sizeOfEnd(end);
  let at = writeCompleted(target, start + 2, end);
  const { usage } = end;
  if (usage === undefined) return at;
  target[at] = 0x22;
  target[at + 1] = sizeOfUsage(usage);
  at += 2;
  if (usage.promptTokens !== 0) at = writeUint(target, at, 0x08, usage.promptTokens);
  if (usage.completionTokens !== 0) at = writeUint(target, at, 0x10, usage.completionTokens);
  return usage.estimated ? writeUint(target, at, 0x18, 1) : at;
}

/** The RunEvent up to `until`, which begins at the cursor; undefined: left to the generated codec. */
export function readEnd(cursor: ProtoCursor, until: number): RunEvent | undefined {
  const outer = cursor.end;
  cursor.end = until;
  const whole = cursor.tagged(0x72) && cursor.length() === until && cursor.tagged(0x0a);
  const completed = whole ? readCompleted(cursor) : undefined;
  const usage = cursor.tagged(0x22) ? readUsage(cursor, until) : undefined;
  const isRead = completed !== undefined && !cursor.broken && cursor.at === until;
  cursor.end = outer;
  if (!isRead) return undefined;
  const value: EndEvent = { $typeName: 'iop.wire.v1.EndEvent', end: { case: 'completed', value: completed } };
  if (usage !== undefined) value.usage = usage;
  return { $typeName: 'iop.wire.v1.RunEvent', kind: { case: 'end', value } };
}

function sizeOfEnd({ end, usage, $unknown }: EndEvent): number {
  if (end.case !== 'completed' || $unknown !== undefined || end.value.$unknown !== undefined) return -1;
  if (!isAscii(end.value.finishReason)) return -1;
  const completed = 2 + sizeOfBytes(end.value.finishReason.length);
  if (usage === undefined) return completed;
  if (!isUint32(usage.promptTokens) || !isUint32(usage.completionTokens) || usage.$unknown !== undefined)
    return -1;
  return completed + 2 + sizeOfUsage(usage);
}

function sizeOfUsage({ promptTokens, completionTokens, estimated }: NonNullable<EndEvent['usage']>): number {
  return sizeOfUint(promptTokens) + sizeOfUint(completionTokens) + (estimated ? 2 : 0);
}

function writeCompleted(target: Uint8Array, start: number, { end }: EndEvent): number {
  const reason = end.case === 'completed' ? end.value.finishReason : '';
  target[start] = 0x0a;
  target[start + 1] = sizeOfBytes(reason.length);
  return reason === '' ? start + 2 : writeText(target, start + 2, 0x0a, reason);
}

function readCompleted(cursor: ProtoCursor) {
  const outer = cursor.end;
  const until = cursor.length();
  if (cursor.broken) return undefined;
  cursor.end = until;
  const finishReason = cursor.textField(0x0a);
  if (cursor.at !== until) cursor.broken = true;
  cursor.end = outer;
  return { $typeName: 'iop.wire.v1.Completed' as const, finishReason };
}

function readUsage(cursor: ProtoCursor, until: number) {
  if (cursor.length() !== until) cursor.broken = true;
  const promptTokens = cursor.uintField(0x08);
  const completionTokens = cursor.uintField(0x10);
  const estimated = cursor.boolField(0x18);
  return { $typeName: 'iop.wire.v1.Usage' as const, promptTokens, completionTokens, estimated };
}
