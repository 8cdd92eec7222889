import type { RunFailure } from '@iop/domain';
import type { HeldByNode, ResumeAnswer } from '../ports/node-link.ts';
import type { RunClass } from '../ports/run-records.ts';
import type { Attempt } from './attempt.ts';
import { loseAttempt, noteAccepted } from './attempt-events.ts';
import { brokenAttempt, nodeLost } from './failures.ts';
import { giveBackKey } from './key-hold.ts';
import type { NodeEntry } from './node-entry.ts';
import { planResume, type ResumeStep } from './resume-plan.ts';
import { hasEnded, leaveLine, type RunContext } from './run.ts';
import { awaitStop } from './run-cancel.ts';
import { abandonAttempt, demandOf, dispatchRun, joinLine } from './run-dispatch.ts';
import { failRun, finishRun } from './run-end.ts';
import { logOwn, moveRun } from './run-log.ts';
import { type AttemptTrace, mayRetry, retryAnywhere } from './run-retry.ts';
import { noteStale } from './run-stale.ts';

/** The link is down: its runs are `unknown` until the Node is back, another one took over, or time is up. */
export function suspendRuns(ctx: RunContext, node: NodeEntry): void {
  for (const { run } of node.attempts.values()) {
    if (run.state !== 'stopping' && !hasEnded(run)) moveRun(ctx, run, 'unknown');
    // who was to stop may do so unheard; a detached one tells when it is back
    if (run.runClass === 'detached') run.cancelStop?.();
  }
  awaitReturn(ctx, node);
}

/** Three timers for the Node, not for each run. */
export function awaitReturn(ctx: RunContext, node: NodeEntry): void {
  // a link that flaps without ever being reconciled does not prolong the wait
  if (node.attempts.size === 0 || node.stopWaiting !== undefined) return;
  const { redispatchAfterMs, lostAfterMs, detachedLostAfterMs } = ctx.settings().limits;
  const timers = [
    ctx.clock.after(redispatchAfterMs, () => moveAway(ctx, node)),
    ctx.clock.after(lostAfterMs, () => giveUp(ctx, node, { runClass: 'attached', waitedMs: lostAfterMs })),
    ctx.clock.after(detachedLostAfterMs, () =>
      giveUp(ctx, node, { runClass: 'detached', waitedMs: detachedLostAfterMs }),
    ),
  ];
  node.stopWaiting = () => {
    for (const cancel of timers) cancel();
    node.stopWaiting = undefined;
  };
}

/** Runs without content start on another Node, at once or as soon as one has a place. */
function moveAway(ctx: RunContext, node: NodeEntry): void {
  for (const attempt of [...node.attempts.values()]) {
    const { run } = attempt;
    if (attempt.over || run.state !== 'unknown' || !mayRetry(ctx, attempt, 'may-have-started')) continue;
    const found = ctx.admission.find(demandOf(run));
    if (found.kind === 'free') {
      ctx.admission.take(found.pick);
      dispatchRun(ctx, run, found.pick);
    } else {
      joinLine(ctx, run);
    }
  }
}

function giveUp(
  ctx: RunContext,
  node: NodeEntry,
  { runClass, waitedMs }: { runClass: RunClass; waitedMs: number },
): void {
  const failure = nodeLost(node.name, `has been away for ${waitedMs} ms`);
  for (const attempt of [...node.attempts.values()]) {
    if (!attempt.over && attempt.run.runClass === runClass) loseAttempt(ctx, attempt, failure);
  }
}

/**
 * Another process of the Node has linked: what the old one executed is gone for certain. Whether a detached run had
 * ended before, and left its end on the Node's disk, its inventory says.
 */
export function loseRestarted(ctx: RunContext, node: NodeEntry): void {
  const failure = restarted(node);
  for (const attempt of [...node.attempts.values()]) {
    if (attempt.over || attempt.run.runClass === 'detached') continue;
    loseForgotten(ctx, attempt, { failure, trace: 'may-have-started' });
  }
}

function restarted({ name }: NodeEntry): RunFailure {
  return nodeLost(name, 'was restarted');
}

function loseForgotten(
  ctx: RunContext,
  attempt: Attempt,
  lost: { failure: RunFailure; trace: AttemptTrace },
): void {
  const { run } = attempt;
  const retry = mayRetry(ctx, attempt, lost.trace);
  leaveLine(ctx, run);
  if (!retry) giveBackKey(run);
  abandonAttempt(ctx, attempt);
  // E9: no process is left that could still work for it
  if (run.stopCause !== undefined) finishRun(ctx, run, { kind: 'cancelled', by: run.stopCause });
  else if (retry && !hasEnded(run)) {
    logOwn(ctx, run, { kind: 'attempt-end', attempt: attempt.attempt, failure: lost.failure });
    retryAnywhere(ctx, run, lost.failure);
  } else failRun(ctx, run, lost.failure);
}

/** The same process is back: settles its inventory and answers it. */
export function reconcileRuns(ctx: RunContext, node: NodeEntry, inventory: readonly HeldByNode[]): void {
  node.stopWaiting?.();
  const attempts = new Map([...node.attempts.values()].map((attempt) => [attempt.runId, attempt]));
  const believed = [...attempts.values()].map((attempt) => ({
    runId: attempt.runId,
    attempt: attempt.attempt,
    receivedSeq: node.link?.receivedSeq(attempt) ?? 0,
  }));
  const steps = planResume(inventory, believed);
  // answered before anything else is sent to the Node because of it
  node.link?.resume(steps.flatMap((step) => answerOf(step, attempts.get(step.runId))));
  noteStale(ctx, node, { steps, inventory });
  for (const step of steps) {
    const attempt = attempts.get(step.runId);
    if (step.kind !== 'drop' && attempt !== undefined && !attempt.over) applyStep(ctx, attempt, step);
  }
}

function answerOf(step: ResumeStep, attempt: Attempt | undefined): ResumeAnswer[] {
  const { runId, attempt: number } = step;
  if (step.kind === 'missing') return [];
  if (step.kind !== 'resume' || attempt === undefined) return [{ kind: 'drop', runId, attempt: number }];
  const { bodyReceivedBytes } = step;
  return [{ kind: 'resume', runId, attempt: number, bodyReceivedBytes }];
}

function applyStep(ctx: RunContext, attempt: Attempt, step: Exclude<ResumeStep, { kind: 'drop' }>): void {
  const node = attempt.place.node.name;
  if (step.kind === 'resume') {
    resumeAttempt(ctx, attempt, step.state);
  } else if (step.kind === 'missing') {
    loseForgotten(ctx, attempt, lossOf(attempt));
  } else {
    const message = `events from ${step.wantedSeq} to ${step.firstKeptSeq - 1} are lost`;
    const failure = brokenAttempt(node, { code: 'event.gap', message });
    loseForgotten(ctx, attempt, { failure, trace: 'may-have-started' });
  }
}

function lossOf(attempt: Attempt): { failure: RunFailure; trace: AttemptTrace } {
  const { node } = attempt.place;
  const isSameProcess = node.facts?.instance === attempt.instance;
  const failure = isSameProcess ? nodeLost(node.name, 'does not know the run any more') : restarted(node);
  const trace = isSameProcess && !attempt.wasAccepted ? 'did-not-start' : 'may-have-started';
  return { failure, trace };
}

function resumeAttempt(ctx: RunContext, attempt: Attempt, state: HeldByNode['state']): void {
  const { run, place } = attempt;
  noteAccepted(ctx, attempt);
  leaveLine(ctx, run);
  if (run.stopCause !== undefined) {
    place.node.link?.cancel(attempt, run.stopCause);
    if (run.runClass === 'detached') awaitStop(ctx, run);
    return;
  }
  if (state === 'waiting') moveRun(ctx, run, 'waiting');
  else moveRun(ctx, run, run.committed ? 'running' : 'starting');
}
