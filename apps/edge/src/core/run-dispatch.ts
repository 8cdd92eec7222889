import { IopError, type RunFailure } from '@iop/domain';
import { Attempt } from './attempt.ts';
import type { Pick } from './choose-place.ts';
import { keyTimeout, queueTimeout } from './failures.ts';
import { holdKey } from './key-hold.ts';
import { beginTrial, endTrial } from './place-health.ts';
import type { Place } from './places.ts';
import { failRun, leaveLine, moveRun, type Run, type RunContext, recordOf } from './run.ts';
import type { Demand } from './waiting-line.ts';

export function demandOf(run: Run): Demand {
  const key = run.holdsKey ? undefined : run.key;
  return { select: run.select, dialect: run.dialect, excluded: run.tried, key };
}

/** Hands the run to a place that was taken for it. An earlier attempt that is still open is superseded. */
export function dispatchRun(ctx: RunContext, run: Run, { place, route }: Pick): void {
  holdKey(run);
  run.route = run.lastFailure === '' ? route : `${route}; before: ${run.lastFailure}`;
  leaveLine(ctx, run);
  if (run.attempt !== undefined) abandonAttempt(ctx, run.attempt);
  moveRun(run, 'starting');
  const attempt = openAttempt(ctx, run, place);
  const { link } = place.node;
  if (link === undefined) throw noLink(place.node.name);
  link.dispatch(
    {
      runId: run.id,
      attempt: attempt.attempt,
      adapter: place.adapter,
      target: place.target,
      dialect: run.dialect,
      body: run.body,
      stream: run.stream,
      includeUsage: run.includeUsage,
      deadlineMs: remainingMs(ctx, run),
      door: run.door,
      configRevision: place.node.acceptedRevision ?? 0,
      raw: run.raw,
    },
    attempt,
  );
  ctx.records.save(recordOf(run));
  const { adapter, target } = place;
  const { route: why } = run;
  run.reader.dispatched({ node: place.node.name, adapter, target, attempt: attempt.attempt, route: why });
}

function openAttempt(ctx: RunContext, run: Run, place: Place): Attempt {
  const attempt = new Attempt(ctx, run, { attempt: ++run.attempts, place });
  if (attempt.attempt > 1) ctx.counters.redispatched++;
  place.node.attempts.set(run.id, attempt);
  beginTrial(place, attempt);
  run.attempt = attempt;
  run.adapter = place.adapter;
  run.target = place.target;
  run.node = place.node.name;
  return attempt;
}

/** The attempt is over; its place goes to whoever waits. */
export function closeAttempt(ctx: RunContext, attempt: Attempt): void {
  const { run, place } = attempt;
  attempt.over = true;
  run.attempt = undefined;
  run.staleBytes += attempt.heldBytes;
  place.node.attempts.delete(run.id);
  if (place.node.attempts.size === 0) place.node.stopWaiting?.();
  endTrial(place, attempt);
  ctx.admission.release(place);
}

/** Closes an attempt that the Node has not ended itself; what it still sends is dropped. */
export function abandonAttempt(ctx: RunContext, attempt: Attempt): void {
  attempt.place.node.link?.forget(attempt);
  closeAttempt(ctx, attempt);
}

/** Puts the run in line; when the time is over it ends with `onTimeout`. */
export function waitForPlace(
  ctx: RunContext,
  run: Run,
  wait: { waitMs: number; onTimeout?: RunFailure },
): void {
  joinLine(ctx, run);
  run.cancelWait = ctx.clock.after(wait.waitMs, () => {
    failRun(ctx, run, wait.onTimeout ?? waitedInVain(ctx, run, wait.waitMs));
  });
}

function waitedInVain({ pace }: RunContext, { asked, key, holdsKey }: Run, waitedMs: number): RunFailure {
  const waited = { asked, waitedMs, retryAfterMs: pace.retryAfterMs(0, 1) };
  if (key === undefined || holdsKey || key.hasRoom()) return queueTimeout(waited);
  return keyTimeout(key.id, waited);
}

export function joinLine(ctx: RunContext, run: Run): void {
  run.waiter = {
    order: run.order,
    demand: demandOf(run),
    grant(pick) {
      run.waiter = undefined;
      dispatchRun(ctx, run, pick);
    },
  };
  ctx.admission.wait(run.waiter);
}

function remainingMs(ctx: RunContext, run: Run): number {
  return run.deadlineAtMs === undefined ? 0 : Math.max(1, Math.ceil(run.deadlineAtMs - ctx.clock.now()));
}

function noLink(node: string): IopError {
  const message = `a run was given to Node ${node}, which never linked; this is a bug of the Edge`;
  return new IopError({ kind: 'internal', code: 'run.no-link', message });
}
