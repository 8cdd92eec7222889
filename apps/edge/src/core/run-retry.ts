import type { RunFailure } from '@iop/domain';
import type { Attempt } from './attempt.ts';
import { type Run, type RunContext, setState } from './run.ts';
import { demandOf, dispatchRun, waitForPlace } from './run-dispatch.ts';
import { failRun } from './run-end.ts';
import { moveRun } from './run-log.ts';

/** What is known of an attempt that is over: that it had no effect, or nothing. */
export type AttemptTrace = 'did-not-start' | 'may-have-started';

/**
 * E6: whether this attempt may be followed by another one. An adapter that may be tried again only before its
 * start wants it known that there was none: a link that fell silent does not say so.
 */
export function mayRetry(ctx: RunContext, attempt: Attempt, trace: AttemptTrace): boolean {
  const { run, place } = attempt;
  // whoever is being stopped is `stopping`, also while its Node is away
  if (run.committed || (run.state !== 'starting' && run.state !== 'unknown')) return false;
  if (run.attempts >= ctx.settings().limits.attempts) return false;
  return trace === 'did-not-start' || place.retry === 'before-content';
}

/** After an attempt that failed: another Node at once or from the line; if there is none, the end. */
export function retryElsewhere(ctx: RunContext, run: Run, failure: RunFailure): void {
  const found = ctx.admission.find(demandOf(run));
  if (found.kind === 'free') {
    ctx.admission.take(found.pick);
    setState(run, 'queued');
    dispatchRun(ctx, run, found.pick);
  } else if (found.kind === 'busy') {
    moveRun(ctx, run, 'queued');
    const waitMs = ctx.settings().limits.queueWaitMs;
    waitForPlace(ctx, run, { waitMs, onTimeout: failure });
  } else {
    failRun(ctx, run, failure);
  }
}

/** After a Node forgot the run: any Node, also that one when it is back, within `lost_after`. */
export function retryAnywhere(ctx: RunContext, run: Run, failure: RunFailure): void {
  setState(run, 'queued');
  const found = ctx.admission.find(demandOf(run));
  if (found.kind === 'free') {
    ctx.admission.take(found.pick);
    dispatchRun(ctx, run, found.pick);
    return;
  }
  const waitMs = lostAfterMs(ctx, run);
  waitForPlace(ctx, run, { waitMs, onTimeout: failure });
}

/** How long a Node may be away before a run of this class is given up. */
export function lostAfterMs(ctx: RunContext, { runClass }: Pick<Run, 'runClass'>): number {
  const { limits } = ctx.settings();
  return runClass === 'detached' ? limits.detachedLostAfterMs : limits.lostAfterMs;
}
