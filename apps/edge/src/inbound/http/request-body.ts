import type { IncomingMessage } from 'node:http';
import type { Clock } from '@iop/domain';

/** Small rests are read along by the server itself; it is not worth a connection. */
const smallRestBytes = 64 * 1024;
const discardLimitBytes = 256 * 1024 * 1024;
const discardMs = 5_000;

export type BodyOutcome = { kind: 'body'; bytes: Uint8Array } | { kind: 'too-large' };

/** The length that the caller announces; undefined: chunked, or no body at all. */
export function announcedBytes(req: IncomingMessage): number | undefined {
  const length = req.headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/**
 * Collects the body, never holding more than `limitBytes`. Does not call back when the caller goes
 * away in the middle: there is nobody left to answer.
 */
export function readBody(
  req: IncomingMessage,
  limitBytes: number,
  done: (outcome: BodyOutcome) => void,
): void {
  if ((announcedBytes(req) ?? 0) > limitBytes) {
    done({ kind: 'too-large' });
    return;
  }
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  function onData(part: Buffer): void {
    sizeBytes += part.length;
    if (sizeBytes <= limitBytes) {
      parts.push(part);
      return;
    }
    forget();
    done({ kind: 'too-large' });
  }
  function onEnd(): void {
    const [first] = parts;
    const bytes = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, sizeBytes);
    forget();
    done({ kind: 'body', bytes });
  }
  // The request lives as long as its answer; the body must not live in two places for that long.
  function forget(): void {
    parts.length = 0;
    req.off('data', onData).off('end', onEnd);
  }
  req.on('data', onData).on('end', onEnd).on('error', ignore);
}

/** Is more of the body to come than the server should read along on its own? */
export function isBodyLeft(req: IncomingMessage): boolean {
  if (req.complete) return false;
  const announced = announcedBytes(req);
  if (announced === undefined) return req.headers['transfer-encoding'] !== undefined;
  return announced > smallRestBytes;
}

/** Reads and forgets what the caller still sends, within bounds of size and time, then calls back. */
export function discardBody(req: IncomingMessage, clock: Clock, done: () => void): void {
  let sizeBytes = 0;
  const cancel = clock.after(discardMs, finish);
  function finish(): void {
    cancel();
    req.off('data', onData).off('end', finish).off('close', finish);
    done();
  }
  function onData(part: Buffer): void {
    sizeBytes += part.length;
    if (sizeBytes > discardLimitBytes) finish();
  }
  req.on('data', onData).on('end', finish).on('close', finish).on('error', ignore).resume();
}

/** An aborted request emits an error; whoever answers learns of it from the connection. */
function ignore(): void {}
