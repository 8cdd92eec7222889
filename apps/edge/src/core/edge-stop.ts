import { loseAttempt } from './attempt-events.ts';
import { edgeStopped } from './failures.ts';
import type { Run, RunContext } from './run.ts';
import { cancelRun } from './run-cancel.ts';

export interface StopTimes {
  /** Runs may end by themselves for so long. */
  drainMs: number;
  /** Then they are cancelled, and Nodes have so long to confirm it. */
  confirmMs: number;
}

const pollMs = 20;

/**
 * Ends every attached run with a reason: E1 holds to the last. No new run may start any more. Detached ones are in the
 * store, their Nodes go on, and the next process takes them up.
 */
export async function endAllRuns(ctx: RunContext, times: StopTimes): Promise<void> {
  for (const run of attachedRuns(ctx)) if (run.attempt === undefined) cancelRun(ctx, run, 'shutdown');
  await untilIdle(ctx, times.drainMs);
  for (const run of attachedRuns(ctx)) cancelRun(ctx, run, 'shutdown');
  await untilIdle(ctx, times.confirmMs);
  for (const { attempt } of attachedRuns(ctx)) {
    if (attempt !== undefined) loseAttempt(ctx, attempt, edgeStopped());
  }
}

function attachedRuns(ctx: RunContext): Run[] {
  return [...ctx.active.values()].filter((run) => run.runClass === 'attached');
}

function untilIdle(ctx: RunContext, timeoutMs: number): Promise<void> {
  const untilMs = ctx.clock.now() + timeoutMs;
  return new Promise((resolve) => {
    const look = () => {
      if (attachedRuns(ctx).length === 0 || ctx.clock.now() >= untilMs) resolve();
      else ctx.clock.after(Math.min(pollMs, untilMs - ctx.clock.now()), look);
    };
    look();
  });
}
