import type { FinishReason, Usage } from '@iop/domain';

/** Who answers: the same in every chunk of an answer. */
export interface AnswerIdentity {
  /** `chatcmpl-…`, `cmpl-…` */
  id: string;
  /** Seconds since 1970. */
  createdS: number;
  /** The name that the caller asked for. */
  model: string;
}

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  other: 'stop',
};

/** @param hasToolCalls an agent ends its turn unless the reason says so, whatever the upstream said */
export function finishWord(finish: FinishReason, hasToolCalls: boolean): string {
  return hasToolCalls && (finish === 'stop' || finish === 'other') ? 'tool_calls' : words[finish];
}

/** A completion knows no tools. */
export function textFinishWord(finish: FinishReason): string {
  return finish === 'tool-calls' ? words.stop : words[finish];
}

export function toUsage({ promptTokens, completionTokens, estimated }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(estimated && { estimated }),
  };
}

/** Some upstreams give their calls no id; clients need one to send the result back. */
export function toolCallId(given: string, { id }: AnswerIdentity, index: number): string {
  return given === '' ? `call_${id.replace(/^chatcmpl-/, '')}_${index}` : given;
}
