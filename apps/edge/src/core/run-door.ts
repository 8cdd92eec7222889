import { isRunEndState } from '@iop/domain';
import type { RunRecord } from '../ports/run-records.ts';
import type { DeleteOutcome, RunDoor, RunRef } from './door.ts';
import { type RunContext, recordOf } from './run.ts';
import { requestCancel } from './run-cancel.ts';
import { createCreate } from './run-create.ts';
import { isVisible, liveRun } from './run-find.ts';
import { openRun } from './run-open.ts';
import type { StartDeps } from './run-start.ts';
import { storeTrouble } from './store-trouble.ts';

/** What doors may ask about runs that are kept. */
export function createRunDoor(deps: StartDeps, mayStore: () => boolean): RunDoor {
  const { ctx } = deps;
  return {
    create: createCreate(deps),
    open: (request, reader) => openRun(ctx, request, reader),
    findRun: (ref) => findRun(ctx, ref),
    async runOrder(ref) {
      const record = await findRun(ctx, ref);
      return record === undefined ? undefined : await ctx.orders.find(ref.runId);
    },
    cancelRun: (ref, by) => requestCancel(ctx, ref, by),
    deleteRun: (ref) => deleteRun(ctx, ref),
    mayStore,
  };
}

async function findRun(ctx: RunContext, ref: RunRef): Promise<RunRecord | undefined> {
  const run = liveRun(ctx, ref);
  if (run !== undefined) return recordOf(run);
  const record = await ctx.records.find(ref.runId);
  return isVisible(record, ref) ? record : undefined;
}

async function deleteRun(ctx: RunContext, ref: RunRef): Promise<DeleteOutcome> {
  try {
    const record = await findRun(ctx, ref);
    if (record === undefined) return { kind: 'unknown-run' };
    if (!isRunEndState(record.state)) return { kind: 'not-ended' };
    await ctx.orders.deleteContent(ref.runId);
    return { kind: 'deleted' };
  } catch (reason) {
    return storeTrouble(reason);
  }
}
