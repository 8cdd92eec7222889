import { isContent } from '@iop/runtime';
import { RunState, toWireRunState } from '@iop/wire';
import { isOwnEvent, type LogEvent } from '../ports/run-log.ts';

/** Where a run is and how it is, as far as events have told. */
export class WatchedState {
  state: RunState;
  node = '';

  constructor(afterPos: number) {
    this.state = afterPos === 0 ? RunState.QUEUED : RunState.UNSPECIFIED;
  }

  note(events: readonly LogEvent[]): void {
    for (const event of events) this.#note(event);
  }

  #note(event: LogEvent): void {
    if (!isOwnEvent(event)) {
      if (this.state <= RunState.STARTING && isContent(event)) this.state = RunState.RUNNING;
      return;
    }
    if (event.kind === 'state') this.state = toWireRunState(event.state);
    if (event.kind === 'end') this.state = toWireRunState(event.end.kind);
    if (event.kind === 'attempt-end') this.state = RunState.QUEUED;
    if (event.kind !== 'attempt') return;
    this.state = RunState.STARTING;
    this.node = event.node;
  }
}
