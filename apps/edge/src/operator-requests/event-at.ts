import type { RunEvent } from '@iop/wire';
import type { LogEvent } from '../ports/run-log.ts';
import { toRunEvent } from '../run-events/to-wire.ts';

/** An event of a log as operators see it. A failed end says up to which pos there is something. */
export function toRunEventAt(event: LogEvent, pos: number): RunEvent {
  const told = toRunEvent(event);
  if (told.kind.case === 'end' && told.kind.value.end.case === 'failed')
    told.kind.value.end.value.afterPos = pos - 1;
  return told;
}
