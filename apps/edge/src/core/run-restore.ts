import type { RestoredRun } from '../ports/run-orders.ts';
import { Attempt } from './attempt.ts';
import { holdKey } from './key-hold.ts';
import { createNodeEntry, type NodeEntry, slotOf } from './node-entry.ts';
import type { Place } from './places.ts';
import { noBytes, type Run } from './run.ts';
import { finishRun } from './run-end.ts';
import { moveRun } from './run-log.ts';
import { awaitReturn } from './run-loss.ts';
import { armDeadline, createRun, gateOf, launchRun, type StartDeps } from './run-start.ts';
import { refKey } from './target-book.ts';

export interface RestoreDeps extends StartDeps {
  nodes: Map<string, NodeEntry>;
}

/**
 * Takes up the detached runs of an earlier process. Those that had no attempt go back into the line; the others are
 * `unknown` until their Node comes with its inventory, or `lost_after` is over.
 */
export function restoreRuns(deps: RestoreDeps, restored: readonly RestoredRun[]): void {
  const { ctx } = deps;
  for (const each of restored) restoreRun(deps, each);
  for (const node of deps.nodes.values()) awaitReturn(ctx, node);
}

function restoreRun(deps: RestoreDeps, restored: RestoredRun): void {
  const { ctx } = deps;
  const run = rebuild(deps, restored);
  const { record } = restored;
  if (record.state === 'queued' && record.stopCause !== undefined) {
    ctx.active.set(run.id, run);
    finishRun(ctx, run, { kind: 'cancelled', by: record.stopCause });
  } else if (record.state === 'queued') {
    launchRun(ctx, run);
  } else {
    ctx.active.set(run.id, run);
    armDeadline(ctx, run);
    restoreAttempt(deps, run, restored);
  }
}

/** Everything but its attempt. */
function rebuild(deps: RestoreDeps, { record, order, lastPos }: RestoredRun): Run {
  const { ctx } = deps;
  const key = gateOf(deps, { door: record.door, keyId: record.keyId });
  const run = createRun(deps, {
    intent: intentOf({ record, order }),
    reader: undefined,
    key,
    id: record.runId,
  });
  const ageMs = Math.max(0, ctx.clock.wall() - record.createdAtMs);
  return Object.assign(run, {
    lastPos,
    shownPos: lastPos,
    attempts: record.attempts,
    committed: record.committed,
    body: record.committed ? noBytes : order.body,
    adapter: record.adapter,
    target: record.target,
    node: record.node,
    route: record.route,
    createdAtMs: record.createdAtMs,
    startedAtMs: record.startedAtMs,
    // by the wall: no other clock survives a restart
    deadlineAtMs:
      run.deadlineAtMs === undefined ? undefined : Math.max(ctx.clock.now(), run.deadlineAtMs - ageMs),
  });
}

function intentOf({ record, order }: Pick<RestoredRun, 'record' | 'order'>) {
  const { select, dialect, body, stream, includeUsage, deadlineMs, raw } = order;
  const { door, keyId, stored } = record;
  const intent = { door, keyId, select, dialect, body, stream, includeUsage, deadlineMs, stored };
  return { ...intent, runClass: 'detached' as const, ...(raw !== undefined && { raw }) };
}

function restoreAttempt(deps: RestoreDeps, run: Run, { record, receivedSeq }: RestoredRun): void {
  const { ctx, nodes } = deps;
  const node = nodes.get(record.node) ?? createNodeEntry(record.node);
  nodes.set(node.name, node);
  const place = placeOf(node, record.adapter, record.target);
  const attempt = new Attempt(ctx, run, { attempt: record.attempts, place, instance: record.nodeInstance });
  attempt.isSent = true;
  attempt.restoredSeq = receivedSeq;
  holdKey(run);
  ctx.admission.occupy(place);
  node.attempts.set(run.id, attempt);
  run.attempt = attempt;
  run.state = run.committed ? 'running' : 'starting';
  run.stopCause = record.stopCause;
  moveRun(ctx, run, run.stopCause === undefined ? 'unknown' : 'stopping');
}

/** As the place was; what is known of it now comes with the Node. */
function placeOf(node: NodeEntry, adapter: string, target: string): Place {
  const key = refKey({ adapter, target });
  return {
    key,
    id: `${node.name}\0${key}`,
    node,
    adapter,
    target,
    // whether it may be tried again was known by the process that dispatched it
    retry: 'before-start',
    dialects: [],
    breaks: false,
    adapterSlot: slotOf(node, adapter),
    targetSlot: slotOf(node, adapter, target),
    adapterLimit: 0,
    targetLimit: 0,
  };
}

/** A Node that links for the first time: what it may still hold of an earlier process of the Edge. */
export function adoptAttempts(node: NodeEntry): void {
  for (const attempt of node.attempts.values()) {
    if (attempt.restoredSeq === undefined) continue;
    node.link?.adopt(attempt, attempt, attempt.restoredSeq);
    attempt.restoredSeq = undefined;
  }
}
