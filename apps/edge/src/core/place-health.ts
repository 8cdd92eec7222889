import type { RunEnd, RunFailure } from '@iop/domain';
import { describeTrouble, newTrouble, noteFailure, pause, standingOf } from './breaker.ts';
import type { NodeEntry, Slot } from './node-entry.ts';
import type { Place } from './places.ts';
import type { RunContext } from './run.ts';

/**
 * What runs show of places. E18: only failures before content that are nobody's but the place's count; what a
 * caller did wrong, a cancel, and what befell the Node do not.
 */
export function noteOutcome(ctx: RunContext, place: Place, end: RunEnd): void {
  if (end.kind === 'completed') noteSuccess(ctx, place);
  else if (end.kind === 'failed') noteFailed(ctx, place, end.failure);
}

/** The upstream has answered: everything is forgiven, also what it asked to wait for. */
export function noteSuccess(ctx: RunContext, { adapterSlot, targetSlot }: Place): void {
  if (adapterSlot.trouble === undefined && targetSlot.trouble === undefined) return;
  forgive(adapterSlot);
  forgive(targetSlot);
  ctx.admission.retry();
}

function noteFailed(ctx: RunContext, place: Place, failure: RunFailure): void {
  const { upstream } = failure;
  if (!failure.retryable) {
    // it answered, and what it said is about the request
    if (upstream !== undefined && upstream.status < 500) noteSuccess(ctx, place);
    return;
  }
  if (!place.breaks || isOfNode(failure.code)) return;
  const slot = isOfAdapter(failure.code) ? place.adapterSlot : place.targetSlot;
  const retryAfterMs = upstream?.retryAfterMs ?? 0;
  if (failure.kind === 'unavailable' || failure.kind === 'timeout') countFailure(ctx, slot, failure.code);
  if (retryAfterMs > 0) pausePlace(ctx, slot, { retryAfterMs, code: failure.code });
}

/** Links and Nodes have a life of their own (E13). */
function isOfNode(code: string): boolean {
  return /^(node|adapter|event|request|run)\./.test(code);
}

/** Nothing behind the adapter can be reached, whichever target was meant. */
function isOfAdapter(code: string): boolean {
  return code === 'upstream.unreachable' || code === 'upstream.connect-timeout';
}

function countFailure(ctx: RunContext, slot: Slot, code: string): void {
  const { breakerFailures, breakerOpenMs } = ctx.settings().limits;
  slot.trouble ??= newTrouble();
  const { trouble } = slot;
  const nowMs = ctx.clock.now();
  const limits = { failures: breakerFailures, openMs: breakerOpenMs };
  const opened = noteFailure(trouble, limits, nowMs);
  trouble.why = `${trouble.failures} failures in a row, the last ${code}`;
  if (!opened) return;
  ctx.counters.breakersOpened++;
  armTimer(ctx, slot);
}

function pausePlace(ctx: RunContext, slot: Slot, asked: { retryAfterMs: number; code: string }): void {
  slot.trouble ??= newTrouble();
  pause(slot.trouble, asked.retryAfterMs, ctx.clock.now());
  slot.trouble.why = `it asked to wait: ${asked.code}`;
  ctx.counters.breakersOpened++;
  armTimer(ctx, slot);
}

/** E20: nothing else happens when the block is over, and somebody may wait for it. */
function armTimer(ctx: RunContext, slot: Slot): void {
  const { trouble } = slot;
  if (trouble === undefined) return;
  trouble.cancelTimer?.();
  trouble.cancelTimer = ctx.clock.after(trouble.blockedUntilMs - ctx.clock.now(), () => {
    trouble.cancelTimer = undefined;
    if (!trouble.tripped && trouble.failures === 0 && slot.trouble === trouble) slot.trouble = undefined;
    ctx.admission.retry();
  });
}

function forgive(slot: Slot): void {
  slot.trouble?.cancelTimer?.();
  slot.trouble = undefined;
}

/** Its adapter was unhealthy and is healthy again, or another process of the Node begins: nothing is held against it. */
export function forgiveNode(node: NodeEntry, adapter?: string): void {
  for (const [key, slot] of node.slots) {
    if (adapter === undefined || key === adapter || key.startsWith(`${adapter}\0`)) forgive(slot);
  }
}

/** E19: of several that find the block over, one may try. */
export function beginTrial(place: Place, trial: object): void {
  for (const slot of [place.adapterSlot, place.targetSlot]) {
    if (slot.trouble?.tripped === true) slot.trouble.trial ??= trial;
  }
}

/** The trial is over, perhaps without a verdict. */
export function endTrial(place: Place, trial: object): void {
  for (const { trouble } of [place.adapterSlot, place.targetSlot]) {
    if (trouble?.trial === trial) trouble.trial = undefined;
  }
}

/** `blockedUntilMs` counts only for `blocked`. */
export function placeStanding(place: Place, nowMs: number): 'fine' | 'blocked' | 'on-trial' {
  const adapter = slotStanding(place.adapterSlot, nowMs);
  if (adapter === 'blocked') return adapter;
  const target = slotStanding(place.targetSlot, nowMs);
  return target === 'fine' ? adapter : target;
}

function slotStanding({ trouble }: Slot, nowMs: number): 'fine' | 'blocked' | 'on-trial' {
  return trouble === undefined ? 'fine' : standingOf(trouble, nowMs);
}

export function blockedUntilMs({ adapterSlot, targetSlot }: Place): number {
  return Math.max(adapterSlot.trouble?.blockedUntilMs ?? 0, targetSlot.trouble?.blockedUntilMs ?? 0);
}

/** For people; empty: nothing keeps runs away. */
export function troubleWords(slots: readonly (Slot | undefined)[], nowMs: number): string {
  return slots.map((slot) => describeTrouble(slot?.trouble, nowMs)).find((words) => words !== '') ?? '';
}
