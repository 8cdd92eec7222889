import { isRunEndState, type RunEnd, type RunFailure } from '@iop/domain';
import { giveBackKey } from './key-hold.ts';
import { hasEnded, leaveLine, noBytes, type Run, type RunContext, recordOf, setState } from './run.ts';
import { logOwn } from './run-log.ts';

/**
 * E1: the one end; a second one changes nothing. Whatever held the run's attempt has closed it before.
 *
 * E24: the end of a detached run is shown to nobody, and acked to no Node (`onCommitted`), before it is committed.
 */
export function finishRun(ctx: RunContext, run: Run, end: RunEnd, onCommitted?: () => void): void {
  if (hasEnded(run)) return;
  leaveLine(ctx, run);
  run.cancelDeadline?.();
  run.cancelStop?.();
  run.end = end.usage === undefined && run.usage !== undefined ? { ...end, usage: run.usage } : end;
  run.endedAtMs = ctx.clock.wall();
  if (end.kind === 'completed' && run.startedAtMs !== undefined)
    ctx.pace.note(run.endedAtMs - run.startedAtMs);
  run.body = noBytes;
  if (run.runClass === 'detached') commitEnd(ctx, run, onCommitted);
  else recordEnd(ctx, run);
  if (giveBackKey(run)) ctx.admission.retry();
  if (run.runClass === 'attached') run.reader?.end(run.end, run.lastPos);
}

export function failRun(ctx: RunContext, run: Run, failure: RunFailure): void {
  finishRun(ctx, run, { kind: 'failed', failure });
}

function recordEnd(ctx: RunContext, run: Run): void {
  const end = settleState(ctx, run);
  logOwn(ctx, run, { kind: 'end', end });
  ctx.records.save(recordOf(run));
}

/** Record and end are in one transaction: the record is given first (G1 of the log). */
function commitEnd(ctx: RunContext, run: Run, onCommitted: (() => void) | undefined): void {
  const { end, endedAtMs } = run;
  if (end === undefined) return;
  const record = {
    ...recordOf(run),
    state: end.kind,
    end,
    endedAtMs,
    lastPos: run.lastPos + 1,
    stopCause: undefined,
  };
  ctx.records.save(record);
  logOwn(ctx, run, { kind: 'end', end }, () => {
    onCommitted?.();
    settleState(ctx, run);
  });
}

function settleState(ctx: RunContext, run: Run): RunEnd {
  const { end } = run;
  if (end === undefined || isRunEndState(run.state)) throw new TypeError('a run ended twice');
  setState(run, end.kind);
  ctx.active.delete(run.id);
  ctx.counters.ended(end);
  return end;
}
