import type { FinishReason, Usage } from '@iop/domain';
import type { Fields } from './problem-list.ts';

/** O6: agents end their turn unless the reason says that there are tools to call. */
export function toFinish(doneReason: unknown, hasToolCalls: boolean): FinishReason {
  if (doneReason === 'length') return 'length';
  if (hasToolCalls) return 'tool-calls';
  // Old servers give none.
  return doneReason === 'stop' || doneReason === undefined || doneReason === '' ? 'stop' : 'other';
}

/**
 * The counts of the last line. A prompt that was cached goes uncounted by some versions.
 * @param textLength of the prompt, in UTF-16 units
 */
export function toUsage(line: Fields, textLength: number): Usage | undefined {
  const completionTokens = toCount(line.eval_count);
  const promptTokens = toCount(line.prompt_eval_count);
  if (promptTokens !== undefined) {
    return { promptTokens, completionTokens: completionTokens ?? 0, estimated: false };
  }
  if (completionTokens === undefined) return undefined;
  return { promptTokens: Math.ceil(textLength / 4), completionTokens, estimated: true };
}

/** Of what was only read. @param textLength of the input, in UTF-16 units */
export function toInputUsage(line: Fields, textLength: number): Usage {
  const promptTokens = toCount(line.prompt_eval_count);
  if (promptTokens !== undefined) return { promptTokens, completionTokens: 0, estimated: false };
  return { promptTokens: Math.ceil(textLength / 4), completionTokens: 0, estimated: true };
}

function toCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff
    ? value
    : undefined;
}
