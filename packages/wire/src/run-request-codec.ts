import { isAscii } from './ascii-memo.ts';
import type { RunRequest } from './gen/iop/wire/v1/run_pb.ts';
import {
  isUint32,
  sizeOfBytes,
  sizeOfUint,
  sizeOfVarint,
  writeBytes,
  writeText,
  writeUint,
  writeVarint,
} from './proto-bytes.ts';
import { ProtoCursor } from './proto-cursor.ts';

/**
 * RunRequest by hand: after RunEvents the message that every run costs. One with metadata or `raw`, with a text that is
 * long or not ASCII, or in another order of fields is left to the generated codec. Same bytes, same
 * values (differential fuzz test).
 */

/** Bytes of the Envelope, or -1: this message is not for the fast path. */
export function measureRunRequest(request: RunRequest): number {
  const size = sizeOf(request);
  return size < 0 ? -1 : 2 + sizeOfVarint(size) + size;
}

/** At `start`, where there is room for what `measureRunRequest` said. */
export function writeRunRequest(request: RunRequest, target: Uint8Array, start: number): void {
  target[start] = 0x9a; // field 19, length-delimited
  target[start + 1] = 0x01;
  let at = writeVarint(target, start + 2, sizeOf(request));
  at = writeTextField(target, at, 0x0a, request.runId);
  at = writeUintField(target, at, 0x10, request.attempt);
  at = writeUintField(target, at, 0x18, request.runClass);
  at = writeTextField(target, at, 0x22, request.adapter);
  at = writeTextField(target, at, 0x2a, request.target);
  at = writeTextField(target, at, 0x32, request.dialect);
  at = writeUintField(target, at, 0x38, request.stream ? 1 : 0);
  at = writeUintField(target, at, 0x40, request.includeUsage ? 1 : 0);
  if (request.body.length > 0) at = writeBytes(target, at, 0x4a, request.body);
  at = writeUintField(target, at, 0x50, request.bodySize);
  at = writeUintField(target, at, 0x58, request.eventCredit);
  at = writeUintField(target, at, 0x60, request.deadlineMs);
  at = writeTextField(target, at, 0x6a, request.sessionId);
  at = writeTextField(target, at, 0x72, request.door);
  if (request.configRevision === 0) return;
  target[at] = 0x80; // field 16: a tag of two bytes
  writeUint(target, at + 1, 0x01, request.configRevision);
}

export function readRunRequest(body: Uint8Array): RunRequest | undefined {
  if (body[0] !== 0x9a || body[1] !== 0x01) return undefined;
  const cursor = new ProtoCursor(body, 2, body.length);
  if (cursor.length() !== cursor.end) return undefined;
  const request: RunRequest = {
    $typeName: 'iop.wire.v1.RunRequest',
    runId: cursor.textField(0x0a),
    attempt: cursor.uintField(0x10),
    runClass: cursor.uintField(0x18) as RunRequest['runClass'],
    adapter: cursor.textField(0x22),
    target: cursor.textField(0x2a),
    dialect: cursor.textField(0x32),
    stream: cursor.boolField(0x38),
    includeUsage: cursor.boolField(0x40),
    body: cursor.bytesField(0x4a),
    bodySize: cursor.uintField(0x50),
    eventCredit: cursor.uintField(0x58),
    deadlineMs: cursor.uintField(0x60),
    sessionId: cursor.textField(0x6a),
    door: cursor.textField(0x72),
    metadata: {},
    configRevision: cursor.tagged(0x80) ? readLast(cursor) : 0,
  };
  // A class of a newer version may be negative on the wire; the generated codec knows what that means.
  const isRead = !cursor.broken && cursor.at === cursor.end && request.runClass <= 0x7fffffff;
  return isRead ? request : undefined;
}

function readLast(cursor: ProtoCursor): number {
  if (!cursor.tagged(0x01)) cursor.broken = true;
  return cursor.varint();
}

function sizeOf(request: RunRequest): number {
  if (!isPlain(request)) return -1;
  return (
    sizeOfBytes(request.runId.length) +
    sizeOfUint(request.attempt) +
    sizeOfUint(request.runClass) +
    sizeOfBytes(request.adapter.length) +
    sizeOfBytes(request.target.length) +
    sizeOfBytes(request.dialect.length) +
    (request.stream ? 2 : 0) +
    (request.includeUsage ? 2 : 0) +
    sizeOfBytes(request.body.length) +
    sizeOfUint(request.bodySize) +
    sizeOfUint(request.eventCredit) +
    sizeOfUint(request.deadlineMs) +
    sizeOfBytes(request.sessionId.length) +
    sizeOfBytes(request.door.length) +
    (request.configRevision === 0 ? 0 : 1 + sizeOfUint(request.configRevision))
  );
}

function isPlain(request: RunRequest): boolean {
  const { runId, adapter, target, dialect, sessionId, door } = request;
  if (request.$unknown !== undefined || request.raw !== undefined) return false;
  if (!isEmpty(request.metadata)) return false;
  if (!isAscii(runId) || !isAscii(adapter) || !isAscii(target) || !isAscii(dialect)) return false;
  return isAscii(sessionId) && isAscii(door) && hasPlainNumbers(request);
}

function hasPlainNumbers(request: RunRequest): boolean {
  const { attempt, runClass, bodySize, eventCredit, deadlineMs, configRevision } = request;
  if (!isUint32(attempt) || !isUint32(runClass) || runClass > 0x7fffffff || !isUint32(bodySize)) return false;
  return isUint32(eventCredit) && isUint32(deadlineMs) && isUint32(configRevision);
}

function isEmpty(metadata: RunRequest['metadata']): boolean {
  for (const _ in metadata) return false;
  return true;
}

function writeTextField(target: Uint8Array, at: number, tag: number, text: string): number {
  return text === '' ? at : writeText(target, at, tag, text);
}

function writeUintField(target: Uint8Array, at: number, tag: number, value: number): number {
  return value === 0 ? at : writeUint(target, at, tag, value);
}
