import type { AttemptRef, HeldByNode } from '../ports/node-link.ts';

/** An attempt that the Edge believes to be on the Node. */
export interface HeldByEdge extends AttemptRef {
  /** Last seq that arrived. */
  receivedSeq: number;
}

export type ResumeStep =
  /** Both hold it: the Node goes on from `afterSeq`. */
  | (AttemptRef & {
      kind: 'resume';
      afterSeq: number;
      bodyReceivedBytes: number;
      state: HeldByNode['state'];
    })
  /** Only the Node holds it: it ended here, or a newer attempt took over. */
  | (AttemptRef & { kind: 'drop' })
  /** Only the Edge holds it: it never arrived, or the Node has forgotten it. */
  | (AttemptRef & { kind: 'missing' })
  /** Both hold it, but events in between are gone: the answer cannot be whole any more. */
  | (AttemptRef & { kind: 'gap'; wantedSeq: number; firstKeptSeq: number });

/** Settles what a Node says that it holds against what the Edge believes. */
export function planResume(node: readonly HeldByNode[], edge: readonly HeldByEdge[]): ResumeStep[] {
  const believed = new Map(edge.map((held) => [keyOf(held), held]));
  const named = new Map(node.map((held) => [keyOf(held), held]));
  const steps: ResumeStep[] = [];
  for (const [key, held] of named) {
    const known = believed.get(key);
    believed.delete(key);
    steps.push(known === undefined ? drop(held) : settle(held, known.receivedSeq));
  }
  for (const { runId, attempt } of believed.values()) steps.push({ kind: 'missing', runId, attempt });
  return steps;
}

function settle(held: HeldByNode, receivedSeq: number): ResumeStep {
  const { runId, attempt, state } = held;
  const wantedSeq = receivedSeq + 1;
  if (held.firstKeptSeq > wantedSeq || held.lastSeq < receivedSeq) {
    return { kind: 'gap', runId, attempt, wantedSeq, firstKeptSeq: held.firstKeptSeq };
  }
  const { bodyReceivedBytes } = held;
  return { kind: 'resume', runId, attempt, afterSeq: receivedSeq, bodyReceivedBytes, state };
}

function drop({ runId, attempt }: AttemptRef): ResumeStep {
  return { kind: 'drop', runId, attempt };
}

function keyOf({ runId, attempt }: AttemptRef): string {
  return `${runId} ${attempt}`;
}
