import type { RunEnd, RunState } from '@iop/domain';
import type { SeenEvent } from './ask.ts';

/** A run as the Edge shows it when all is over. */
export interface RunStory {
  record: RunFacts;
  log: RunLogFacts;
}

export interface RunFacts {
  runId: string;
  runClass: 'attached' | 'detached';
  state: RunState;
  model: string;
  node: string;
  attempts: number;
  createdAtMs: number;
  /** When a Node had taken it; undefined: none has. */
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  end: RunEnd | undefined;
  lastPos: number;
  stale: string;
  /** From its request, where that is kept, else from what it said. */
  marker: string | undefined;
}

export interface RunLogFacts {
  /** pos of `events[0]`; 1: nothing is gone. */
  firstPos: number;
  events: readonly LoggedEvent[];
  /** What its events say together, as far as it came. */
  content: string;
}

export interface LoggedEvent extends SeenEvent {
  kind: string;
  /** It is, or may be, a piece of the answer. */
  isContent: boolean;
  /** Of kind `attempt`. */
  attempt: number | undefined;
  node: string | undefined;
  /** Of kind `end`. */
  end: RunEnd | undefined;
}
