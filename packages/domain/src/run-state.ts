/**
 * The life of a run, as one table.
 *
 * `unknown` is where a live run waits while its Node's link is down; it is not an end.
 * Invariant R1: the three ends have no way out. Invariant R2: nothing is `cancelled` before the work
 * has stopped, so a cancel goes through `stopping` unless the work never started.
 */
export const runStates = [
  'queued',
  'starting',
  'running',
  'waiting',
  'stopping',
  'unknown',
  'completed',
  'failed',
  'cancelled',
] as const;

export type RunState = (typeof runStates)[number];
export type RunEndState = 'completed' | 'failed' | 'cancelled';

const transitions: Readonly<Record<RunState, readonly RunState[]>> = {
  queued: ['starting', 'cancelled', 'failed'],
  // back to `queued`: the attempt broke before the commit boundary and another Node may try
  starting: ['running', 'waiting', 'stopping', 'unknown', 'queued', 'completed', 'failed', 'cancelled'],
  running: ['waiting', 'stopping', 'unknown', 'completed', 'failed', 'cancelled'],
  waiting: ['running', 'stopping', 'unknown', 'completed', 'failed', 'cancelled'],
  stopping: ['unknown', 'completed', 'failed', 'cancelled'],
  unknown: ['starting', 'running', 'waiting', 'stopping', 'queued', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

export function canTransition(from: RunState, to: RunState): boolean {
  return transitions[from].includes(to);
}

export function isRunEndState(state: RunState): state is RunEndState {
  return transitions[state].length === 0;
}
