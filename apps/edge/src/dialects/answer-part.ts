import type { FinishReason } from '@iop/domain';

/** A piece of an answer, whatever its adapter speaks. Of several choices only the first is read. */
export type AnswerPart =
  /** `logprobs` as the upstream gave them, one entry a token. */
  | { kind: 'text'; text: string; logprobs?: readonly unknown[] }
  | { kind: 'refusal'; text: string }
  | { kind: 'reasoning'; text: string }
  /** Once a call. `index` counts calls from 0; `id` is empty where the upstream gives none. */
  | { kind: 'tool-call'; index: number; id: string; name: string }
  | { kind: 'tool-arguments'; index: number; json: string }
  /** Something that has no words of its own here: the work has begun. */
  | { kind: 'activity'; title: string }
  /** `stopSequence`: which of the caller's own it stopped at, where the upstream says so. */
  | { kind: 'finish'; finish: FinishReason; stopSequence?: string }
  /** May come again; the last one counts. */
  | { kind: 'usage'; usage: AnswerUsage }
  /** The upstream reports an error inside its stream, or is not understood: nothing that comes after it counts. */
  | { kind: 'error'; error: AnswerError };

export interface AnswerUsage {
  inputTokens: number;
  /** Of the input; 0 also where the upstream does not say. */
  cachedTokens: number;
  outputTokens: number;
  /** Of the output; 0 also where the upstream does not say. */
  reasoningTokens: number;
  /** Counted here, because the upstream never said. */
  estimated: boolean;
}

export interface AnswerError {
  message: string;
  /** The upstream's word, or empty. */
  type: string;
  code: string;
}
