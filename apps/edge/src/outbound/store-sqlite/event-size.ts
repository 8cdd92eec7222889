import type { LogEvent } from '../../ports/run-log.ts';

/** About what an event takes in memory and on the disk. */
export function eventSizeBytes(event: LogEvent): number {
  if (event.kind === 'raw') return overheadBytes + event.bytes.length;
  let size = overheadBytes;
  for (const field of Object.values(event)) size += sizeOf(field);
  return size;
}

const overheadBytes = 32;

function sizeOf(field: unknown): number {
  if (typeof field === 'string' || field instanceof Uint8Array) return field.length;
  return typeof field === 'object' && field !== null ? nestedBytes : 0;
}

/** Ends, failures, candidates: few, and small but for an upstream's answer (≤ 64 KiB). */
const nestedBytes = 512;
