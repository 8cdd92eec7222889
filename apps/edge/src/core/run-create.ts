import type { Claim, Created } from '../ports/run-orders.ts';
import type { CreateOutcome, RunCreation } from './door.ts';
import { type Run, type RunContext, recordOf } from './run.ts';
import { orderOf } from './run-order.ts';
import { createRun, judge, launchRun, type StartDeps } from './run-start.ts';
import { storeTrouble } from './store-trouble.ts';

/** A key that ended in a way which lets its caller try again is claimed anew so often at most. */
const claimTries = 3;

/** Takes a run in that is committed before it is dispatched: detached ones, and those with an idempotency key. */
export function createCreate(deps: StartDeps): (creation: RunCreation) => Promise<CreateOutcome> {
  return async (creation) => {
    const judged = judge(deps, creation);
    if (judged.kind !== 'taken') return judged;
    const run = createRun(deps, { intent: creation, key: judged.key, reader: undefined });
    try {
      const created = await claimAndCreate(deps.ctx, run, creation);
      if (created.kind !== 'created') return created;
    } catch (reason) {
      return storeTrouble(reason);
    }
    // an Edge that stops meanwhile leaves it to the next process; whoever asked for it finds it, and waits
    if (deps.isStopping() && run.runClass === 'detached') deps.ctx.active.set(run.id, run);
    else launchRun(deps.ctx, run);
    return { kind: 'created', runId: run.id };
  };
}

async function claimAndCreate(ctx: RunContext, run: Run, creation: RunCreation): Promise<CreateOutcome> {
  let claim = claimOf(run, creation);
  for (let tries = 0; tries < claimTries; tries++) {
    const created = await ctx.orders.create({
      record: recordOf(run),
      order: orderOf(run, creation),
      ...claim,
    });
    if (created.kind === 'created') return { kind: 'created', runId: run.id };
    const known = await judgeClaim(ctx, created, creation);
    if (known.kind !== 'over') return known;
    claim = claim && { claim: { ...claim.claim, replaces: created.runId } };
  }
  return storeTrouble(
    new Error('another request with the same idempotency key came in between, again and again'),
  );
}

function claimOf(
  { keyId, door, createdAtMs }: Run,
  { idempotency }: RunCreation,
): { claim: Claim } | undefined {
  if (idempotency === undefined) return undefined;
  const { key, bodyHash } = idempotency;
  return { claim: { scope: `${keyId}/${door}`, key, bodyHash, claimedAtMs: createdAtMs } };
}

type Known = Extract<CreateOutcome, { kind: 'repeated' | 'key-conflict' }> | { kind: 'over' };

/** The key is taken: its run is what the caller wants, unless that ended as if it had never been. */
async function judgeClaim(
  ctx: RunContext,
  { runId, bodyHash }: Extract<Created, { kind: 'claimed' }>,
  { idempotency }: RunCreation,
): Promise<Known> {
  if (idempotency?.bodyHash !== bodyHash) return { kind: 'key-conflict', key: idempotency?.key ?? '', runId };
  if (ctx.active.has(runId)) return { kind: 'repeated', runId };
  const record = await ctx.records.find(runId);
  if (record === undefined) return { kind: 'over' };
  // without an end and not among the live ones: it is being launched at this very moment
  const { end } = record;
  const isOver =
    end?.kind === 'failed' ? end.failure.retryable : end?.kind === 'cancelled' && end.by === 'caller';
  return isOver ? { kind: 'over' } : { kind: 'repeated', runId };
}
