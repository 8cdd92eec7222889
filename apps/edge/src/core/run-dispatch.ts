import { IopError, type RunFailure } from '@iop/domain';
import type { AttemptEvent } from '../ports/run-log.ts';
import { Attempt } from './attempt.ts';
import type { Pick } from './choose-place.ts';
import { keyTimeout, notCommitted, queueTimeout } from './failures.ts';
import { holdKey } from './key-hold.ts';
import { beginTrial, endTrial } from './place-health.ts';
import type { Place } from './places.ts';
import { leaveLine, type Run, type RunContext, recordOf, setState } from './run.ts';
import { failRun } from './run-end.ts';
import { logOwn } from './run-log.ts';
import { storeTrouble } from './store-trouble.ts';
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
  setState(run, 'starting');
  const attempt = openAttempt(ctx, run, place);
  if (place.node.link === undefined) throw noLink(place.node.name);
  logOwn(ctx, run, attemptEvent(ctx, attempt));
  if (run.runClass === 'detached') {
    void commitAndSend(ctx, attempt);
  } else {
    send(ctx, attempt);
    ctx.records.save(recordOf(run));
  }
  const { adapter, target } = place;
  run.reader?.dispatched({
    node: place.node.name,
    adapter,
    target,
    attempt: attempt.attempt,
    route: run.route,
  });
}

/** E8: the number of a detached attempt is on the disk before any Node sees it, so that no restart gives it again. */
async function commitAndSend(ctx: RunContext, attempt: Attempt): Promise<void> {
  try {
    await ctx.records.commit(recordOf(attempt.run));
    if (!attempt.over) send(ctx, attempt);
  } catch (reason) {
    if (attempt.over) return;
    abandonAttempt(ctx, attempt);
    failRun(ctx, attempt.run, notCommitted(storeTrouble(reason).detail));
  }
}

function send(ctx: RunContext, attempt: Attempt): void {
  const { run, place } = attempt;
  attempt.isSent = true;
  place.node.link?.dispatch(
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
      detached: run.runClass === 'detached',
      raw: run.raw,
    },
    attempt,
  );
}

function openAttempt(ctx: RunContext, run: Run, place: Place): Attempt {
  const instance = place.node.facts?.instance ?? '';
  const attempt = new Attempt(ctx, run, { attempt: ++run.attempts, place, instance });
  if (attempt.attempt > 1) ctx.counters.redispatched++;
  place.node.attempts.set(run.id, attempt);
  beginTrial(place, attempt);
  run.attempt = attempt;
  run.adapter = place.adapter;
  run.target = place.target;
  run.node = place.node.name;
  return attempt;
}

function attemptEvent(ctx: RunContext, { run, attempt, place }: Attempt): AttemptEvent {
  return {
    kind: 'attempt',
    attempt,
    node: place.node.name,
    adapter: place.adapter,
    target: place.target,
    route: run.route,
    waitedMs: Math.round(ctx.clock.now() - run.waitingSinceMs),
    candidates: ctx.admission.survey(demandOf(run), place),
  };
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
  // whoever takes it up again must know that no Node has it
  if (run.runClass === 'detached') ctx.records.save(recordOf(run));
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
  if (run.attempts > 0) run.waitingSinceMs = ctx.clock.now();
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
