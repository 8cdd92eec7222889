import type { CancelCause } from '@iop/domain';
import { loseAttempt, passOnAll } from './attempt-events.ts';
import type { CancelOutcome, RunRef } from './door.ts';
import { stopUnconfirmed } from './failures.ts';
import { hasEnded, leaveLine, type Run, type RunContext, recordOf } from './run.ts';
import { abandonAttempt } from './run-dispatch.ts';
import { finishRun } from './run-end.ts';
import { isVisible, liveRun } from './run-find.ts';
import { moveRun } from './run-log.ts';
import { storeTrouble } from './store-trouble.ts';

/**
 * Takes effect once; the first cause counts. E9: a run whose work has begun is `stopping` until the Node
 * says that it stopped, or is known to have no process left; after `stopAfterMs` it ends as failed.
 */
export function cancelRun(ctx: RunContext, run: Run, by: CancelCause): void {
  if (run.stopCause !== undefined || hasEnded(run)) return;
  run.stopCause = by;
  const { attempt } = run;
  if (attempt === undefined || !attempt.isSent) {
    if (attempt !== undefined) abandonAttempt(ctx, attempt);
    finishRun(ctx, run, { kind: 'cancelled', by });
    return;
  }
  leaveLine(ctx, run);
  moveRun(ctx, run, 'stopping');
  attempt.place.node.link?.cancel(attempt, by);
  passOnAll(attempt);
  // a Node that is away may still confirm it when it is back: `lost_after` bounds that
  if (run.runClass === 'attached' || attempt.place.node.linked) awaitStop(ctx, run);
}

/** A Node that has heard of the cancel has so long to stop. */
export function awaitStop(ctx: RunContext, run: Run): void {
  const { attempt, stopCause: by } = run;
  if (attempt === undefined || by === undefined) return;
  const waitedMs = ctx.settings().limits.stopAfterMs;
  run.cancelStop?.();
  run.cancelStop = ctx.clock.after(waitedMs, () => {
    if (!attempt.over) loseAttempt(ctx, attempt, stopUnconfirmed(attempt.place.node.name, { by, waitedMs }));
  });
}

/** As a door asks for it: of a detached run the cancel is committed before it is answered. */
export async function requestCancel(ctx: RunContext, ref: RunRef, by: CancelCause): Promise<CancelOutcome> {
  try {
    const run = liveRun(ctx, ref);
    if (run !== undefined) {
      cancelRun(ctx, run, by);
      if (run.runClass === 'detached') await committed(ctx, run);
      return { kind: 'taken', state: run.state };
    }
    const record = await ctx.records.find(ref.runId);
    return isVisible(record, ref) ? { kind: 'already-ended', state: record.state } : { kind: 'unknown-run' };
  } catch (reason) {
    return storeTrouble(reason);
  }
}

/** A record of before must never follow that of the end. */
function committed(ctx: RunContext, run: Run): Promise<void> {
  return hasEnded(run) ? ctx.records.flush() : ctx.records.commit(recordOf(run));
}
