import { canTransition, type RunEnd, type RunFailure } from '@iop/domain';
import { isContent } from '@iop/runtime';
import type { Attempt, AttemptHandlers, EventBatch } from './attempt.ts';
import { brokenAttempt } from './failures.ts';
import { giveBackKey } from './key-hold.ts';
import { noteOutcome, noteSuccess } from './place-health.ts';
import { hasEnded, noBytes, type Run, type RunContext, recordOf, setState } from './run.ts';
import { abandonAttempt, closeAttempt } from './run-dispatch.ts';
import { failRun, finishRun } from './run-end.ts';
import { logOwn, logSaid, moveRun } from './run-log.ts';
import { type AttemptTrace, mayRetry, retryElsewhere } from './run-retry.ts';

/** What a Node says of the current attempt, as it changes the run. */
export const attemptEvents: AttemptHandlers = {
  accepted(ctx, attempt) {
    noteAccepted(ctx, attempt);
  },

  events(ctx, attempt, batch) {
    const { run } = attempt;
    noteAccepted(ctx, attempt);
    attempt.heldBytes += batch.sizeBytes;
    ctx.counters.events += batch.events.length;
    noteUsage(run, batch);
    if (!run.committed && batch.events.some(isContent)) {
      noteSuccess(ctx, attempt.place);
      commit(run);
      // with the content itself: whoever takes the run up again must not start it anew
      if (run.runClass === 'detached') ctx.records.save(recordOf(run));
    }
    const firstPos = run.lastPos + 1;
    logBatch(ctx, attempt, batch);
    run.reader?.events(batch.events, batch.sizeBytes, firstPos);
    if (run.stopCause !== undefined) passOnAll(attempt);
  },

  // `running` before content would close the way back to `queued` that a retry needs
  stateChanged(ctx, { run }, state) {
    const isNews = state === 'waiting' || run.state === 'waiting';
    if (!isNews || !canTransition(run.state, state)) return;
    // somebody was asked something: another Node must not ask again
    if (state === 'waiting') commit(run);
    moveRun(ctx, run, state);
  },

  end(ctx, attempt, { end, seq }) {
    const retry = end.kind === 'failed' && end.failure.retryable && mayRetry(ctx, attempt, traceOf(attempt));
    noteAccepted(ctx, attempt);
    if (!attempt.run.committed && attempt.run.stopCause === undefined) noteOutcome(ctx, attempt.place, end);
    if (!retry) giveBackKey(attempt.run);
    closeAttempt(ctx, attempt);
    settle(ctx, attempt, { end, retry, onCommitted: endAck(attempt, seq) });
  },

  broken(ctx, attempt, why) {
    const node = attempt.place.node.name;
    const retry = mayRetry(ctx, attempt, 'may-have-started');
    attempt.place.node.link?.cancel(attempt, 'superseded');
    if (!retry) giveBackKey(attempt.run);
    abandonAttempt(ctx, attempt);
    settle(ctx, attempt, { end: { kind: 'failed', failure: brokenAttempt(node, why) }, retry });
  },
};

/** A Node calls a failure retryable only on its adapter's side of the boundary. */
function traceOf({ place }: Attempt): AttemptTrace {
  return place.retry === 'before-start' ? 'did-not-start' : 'may-have-started';
}

/** Said by the Node, or by the first event that it sends. */
export function noteAccepted(ctx: RunContext, attempt: Attempt): void {
  if (attempt.wasAccepted) return;
  attempt.wasAccepted = true;
  attempt.run.startedAtMs ??= ctx.clock.wall();
}

/** Credit and acks of a detached attempt follow the commit, those of a run that only cursors read its log. */
function logBatch(ctx: RunContext, attempt: Attempt, { events, sizeBytes, lastSeq }: EventBatch): void {
  const { run } = attempt;
  const said = { events, sizeBytes, lastSeq, attempt: attempt.attempt };
  if (run.runClass === 'attached') {
    logSaid(ctx, run, said);
    if (run.reader === undefined) passOn(attempt, sizeBytes);
    return;
  }
  logSaid(ctx, run, {
    ...said,
    committed() {
      attempt.place.node.link?.committed(attempt, lastSeq);
      passOn(attempt, sizeBytes);
    },
  });
}

/** The end of a detached attempt is acked, and its Node forgets it, when what follows from it is committed. */
function endAck(attempt: Attempt, seq: number): (() => void) | undefined {
  if (attempt.run.runClass === 'attached') return undefined;
  return () => {
    const { link } = attempt.place.node;
    link?.committed(attempt, seq);
    link?.forget(attempt);
  };
}

interface Outcome {
  end: RunEnd;
  retry: boolean;
  onCommitted?: (() => void) | undefined;
}

function settle(ctx: RunContext, attempt: Attempt, { end, retry, onCommitted }: Outcome): void {
  const { run } = attempt;
  // closing served the line, and whoever was served may have cancelled this one
  if (!retry || end.kind !== 'failed' || hasEnded(run)) {
    if (hasEnded(run)) onCommitted?.();
    else finishRun(ctx, run, end, onCommitted);
    return;
  }
  const { place } = attempt;
  run.tried = [...run.tried, place.id];
  run.lastFailure = `${place.node.name} ${place.adapter}/${place.target} failed (${end.failure.code})`;
  logOwn(ctx, run, { kind: 'attempt-end', attempt: attempt.attempt, failure: end.failure }, onCommitted);
  retryElsewhere(ctx, run, end.failure);
}

/** The commit boundary: from here on the answer is this attempt's or none. */
function commit(run: Run): void {
  run.committed = true;
  run.body = noBytes;
  if (run.state === 'starting') setState(run, 'running');
}

function noteUsage(run: Run, { events }: EventBatch): void {
  for (const event of events) if (event.kind === 'usage') run.usage = event.usage;
}

/** E10: the owner has passed on so much; what an earlier attempt had sent is not the current one's. */
export function ownerConsumed(run: Run, sizeBytes: number): void {
  const stale = Math.min(run.staleBytes, sizeBytes);
  run.staleBytes -= stale;
  const { attempt } = run;
  if (attempt !== undefined && sizeBytes > stale) passOn(attempt, sizeBytes - stale);
}

/** So much of what the attempt sent is out of the way. */
function passOn(attempt: Attempt, sizeBytes: number): void {
  if (attempt.heldBytes === 0) return;
  const passed = Math.min(attempt.heldBytes, sizeBytes);
  attempt.heldBytes -= passed;
  attempt.place.node.link?.consumed(attempt, passed);
}

/**
 * Nobody waits for the content of a run that is being stopped, and its owner may never read again: what the Node
 * still holds must come for its end to come.
 */
export function passOnAll(attempt: Attempt): void {
  if (attempt.heldBytes === 0) return;
  const { heldBytes } = attempt;
  attempt.heldBytes = 0;
  attempt.place.node.link?.consumed(attempt, heldBytes);
}

/** The attempt is gone without an end of its own. */
export function loseAttempt(ctx: RunContext, attempt: Attempt, failure: RunFailure): void {
  giveBackKey(attempt.run);
  abandonAttempt(ctx, attempt);
  failRun(ctx, attempt.run, failure);
}
