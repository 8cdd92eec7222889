import { canTransition, isRunEndState, type RunEnd, type RunFailure } from '@iop/domain';
import { isContent } from '@iop/runtime';
import type { Attempt, AttemptHandlers, EventBatch } from './attempt.ts';
import { brokenAttempt } from './failures.ts';
import { giveBackKey } from './key-hold.ts';
import { noteOutcome, noteSuccess } from './place-health.ts';
import { failRun, finishRun, moveRun, noBytes, type Run, type RunContext } from './run.ts';
import { abandonAttempt, closeAttempt } from './run-dispatch.ts';
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
    }
    run.reader.events(batch.events, batch.sizeBytes);
    if (run.stopCause !== undefined) passOnAll(attempt);
  },

  // `running` before content would close the way back to `queued` that a retry needs
  stateChanged(_ctx, { run }, state) {
    const isNews = state === 'waiting' || run.state === 'waiting';
    if (!isNews || !canTransition(run.state, state)) return;
    // somebody was asked something: another Node must not ask again
    if (state === 'waiting') commit(run);
    moveRun(run, state);
  },

  end(ctx, attempt, end) {
    const retry = end.kind === 'failed' && end.failure.retryable && mayRetry(ctx, attempt, traceOf(attempt));
    noteAccepted(ctx, attempt);
    if (!attempt.run.committed && attempt.run.stopCause === undefined) noteOutcome(ctx, attempt.place, end);
    if (!retry) giveBackKey(attempt.run);
    closeAttempt(ctx, attempt);
    settle(ctx, attempt, { end, retry });
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

function settle(ctx: RunContext, attempt: Attempt, { end, retry }: { end: RunEnd; retry: boolean }): void {
  const { run } = attempt;
  // closing served the line, and whoever was served may have cancelled this one
  if (!retry || end.kind !== 'failed' || isRunEndState(run.state)) {
    finishRun(ctx, run, end);
    return;
  }
  const { place } = attempt;
  run.tried = [...run.tried, place.id];
  run.lastFailure = `${place.node.name} ${place.adapter}/${place.target} failed (${end.failure.code})`;
  retryElsewhere(ctx, run, end.failure);
}

/** The commit boundary: from here on the answer is this attempt's or none. */
function commit(run: Run): void {
  run.committed = true;
  run.body = noBytes;
  if (run.state === 'starting') moveRun(run, 'running');
}

function noteUsage(run: Run, { events }: EventBatch): void {
  for (const event of events) if (event.kind === 'usage') run.usage = event.usage;
}

/** E10: the owner has passed on so much; what an earlier attempt had sent is not the current one's. */
export function ownerConsumed(run: Run, sizeBytes: number): void {
  const stale = Math.min(run.staleBytes, sizeBytes);
  run.staleBytes -= stale;
  const { attempt } = run;
  if (attempt === undefined || sizeBytes === stale || attempt.heldBytes === 0) return;
  const passed = Math.min(attempt.heldBytes, sizeBytes - stale);
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
