import { create, encodeMessage, RunEventsSchema } from '@iop/wire';
import type { LogEvent } from '../../ports/run-log.ts';
import { toRunEvent } from '../../run-events/to-wire.ts';
import { readVarint } from './segment-bytes.ts';

/** One event as a segment holds it. */
export function encodeEvent(event: LogEvent): Uint8Array {
  const value = create(RunEventsSchema, { events: [toRunEvent(event)] });
  const envelope = encodeMessage({ case: 'runEvents', value });
  return envelope.slice(readVarint(envelope, 2).next);
}
