import { type CancelCause, isRunEndState } from '@iop/domain';
import { loseAttempt, passOnAll } from './attempt-events.ts';
import { stopUnconfirmed } from './failures.ts';
import { finishRun, leaveLine, moveRun, type Run, type RunContext } from './run.ts';

/**
 * Takes effect once; the first cause counts. E9: a run whose work has begun is `stopping` until the Node
 * says that it stopped, or is known to have no process left; after `stopAfterMs` it ends as failed.
 */
export function cancelRun(ctx: RunContext, run: Run, by: CancelCause): void {
  if (run.stopCause !== undefined || isRunEndState(run.state)) return;
  run.stopCause = by;
  const { attempt } = run;
  if (attempt === undefined) {
    finishRun(ctx, run, { kind: 'cancelled', by });
    return;
  }
  leaveLine(ctx, run);
  moveRun(run, 'stopping');
  const { node } = attempt.place;
  node.link?.cancel(attempt, by);
  passOnAll(attempt);
  const waitedMs = ctx.settings().limits.stopAfterMs;
  run.cancelStop = ctx.clock.after(waitedMs, () => {
    loseAttempt(ctx, attempt, stopUnconfirmed(node.name, { by, waitedMs }));
  });
}
