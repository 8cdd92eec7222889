import type { EdgeState } from './edge-state.ts';
import type { Run } from './run.ts';
import { demandOf } from './run-dispatch.ts';
import { hasRoom } from './run-refusal.ts';
import { whyBlocked, whyNotNow } from './why-not-now.ts';

/** What a live run waits for now, for people; empty: it is at work, or over. */
export function whyWaiting(state: EdgeState, run: Run | undefined): string {
  if (run === undefined) return '';
  if (run.waiter !== undefined) return whyInLine(state, run);
  if (run.state === 'unknown') return `for the Node ${run.node}, whose link is down`;
  if (run.state === 'stopping') return `for the Node ${run.node} to say that the work has stopped`;
  return '';
}

function whyInLine(state: EdgeState, run: Run): string {
  const { key } = run;
  if (!run.holdsKey && !hasRoom(key)) {
    return `for its key ${key?.id}, which has ${key?.running} runs at once already`;
  }
  const found = state.ctx.admission.find(demandOf(run));
  switch (found.kind) {
    case 'free':
      return 'for its turn';
    case 'busy':
      return 'for a place: all that could take it are busy';
    case 'blocked':
      return `for a place that works again: ${whyBlocked(state, run.select)}`;
    case 'unsupported-dialect':
      return `for a place that takes ${run.dialect}`;
    default:
      return `for a Node: ${whyNotNow(state, run.select).detail}`;
  }
}
