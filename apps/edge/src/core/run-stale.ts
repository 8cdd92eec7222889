import type { HeldByNode } from '../ports/node-link.ts';
import type { NodeEntry } from './node-entry.ts';
import type { ResumeStep } from './resume-plan.ts';
import type { RunContext } from './run.ts';

/** Ends by which the Edge gave a run up without knowing what became of its work. */
const givenUp: ReadonlySet<string> = new Set(['node.lost', 'node.stop-unconfirmed', 'event.gap']);

/** A Node is back with ends of runs that were given up: kept for people, never the end. */
export function noteStale(
  ctx: RunContext,
  node: NodeEntry,
  { steps, inventory }: { steps: readonly ResumeStep[]; inventory: readonly HeldByNode[] },
): void {
  const dropped = new Set(steps.flatMap((step) => (step.kind === 'drop' ? [step.runId] : [])));
  for (const held of inventory) {
    if (held.endedAs !== undefined && dropped.has(held.runId)) void note(ctx, node, held);
  }
}

async function note(
  ctx: RunContext,
  node: NodeEntry,
  { runId, attempt, endedAs }: HeldByNode,
): Promise<void> {
  const at = new Date(ctx.clock.wall()).toISOString();
  const words = `at ${at} Node ${node.name} came back and said that attempt ${attempt} had ${pastOf(endedAs)}`;
  // a store that does not answer loses a note for people, nothing else
  const record = await ctx.records.find(runId).catch(() => undefined);
  if (record?.end?.kind !== 'failed' || !givenUp.has(record.end.failure.code)) return;
  ctx.records.noteStale(runId, words);
}

function pastOf(endedAs: HeldByNode['endedAs']): string {
  return endedAs === 'cancelled' ? 'been cancelled' : String(endedAs);
}
