import { loseAttempt } from './attempt-events.ts';
import { edgeStopped } from './failures.ts';
import type { RunContext } from './run.ts';
import { cancelRun } from './run-cancel.ts';

export interface StopTimes {
  /** Runs may end by themselves for so long. */
  drainMs: number;
  /** Then they are cancelled, and Nodes have so long to confirm it. */
  confirmMs: number;
}

const pollMs = 20;

/** Ends every run with a reason: E1 holds to the last. No new run may start any more. */
export async function endAllRuns(ctx: RunContext, times: StopTimes): Promise<void> {
  for (const run of [...ctx.active.values()]) if (run.attempt === undefined) cancelRun(ctx, run, 'shutdown');
  await untilIdle(ctx, times.drainMs);
  for (const run of [...ctx.active.values()]) cancelRun(ctx, run, 'shutdown');
  await untilIdle(ctx, times.confirmMs);
  for (const { attempt } of [...ctx.active.values()]) {
    if (attempt !== undefined) loseAttempt(ctx, attempt, edgeStopped());
  }
}

function untilIdle(ctx: RunContext, timeoutMs: number): Promise<void> {
  const untilMs = ctx.clock.now() + timeoutMs;
  return new Promise((resolve) => {
    const look = () => {
      if (ctx.active.size === 0 || ctx.clock.now() >= untilMs) resolve();
      else ctx.clock.after(Math.min(pollMs, untilMs - ctx.clock.now()), look);
    };
    look();
  });
}
