import { runIdTimeMs } from '@iop/domain';
import type { AnswerIdentity } from './answer-words.ts';
import type { RunShape } from './run-shape.ts';

/** A function of the run alone, so that every reader of it is shown the same. */
export function identityOf(
  { idPrefix }: RunShape,
  { runId = '', model }: { runId: string | undefined; model: string },
): AnswerIdentity {
  return {
    id: `${idPrefix}-${runId.slice('run_'.length)}`,
    createdS: Math.floor(runIdTimeMs(runId) / 1000),
    model,
  };
}
