import type { LogEvent } from '../ports/run-log.ts';

/** What every event takes of a window besides its bytes and texts. */
const overheadBytes = 16;

/** About what an event takes of a reader's window; the same for one event at all times. */
export function logEventBytes(event: LogEvent): number {
  if (event.kind === 'raw') return overheadBytes + event.bytes.length;
  let sizeBytes = overheadBytes;
  for (const value of Object.values(event)) {
    if (typeof value === 'string' || value instanceof Uint8Array) sizeBytes += value.length;
  }
  return sizeBytes;
}
