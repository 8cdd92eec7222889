import type { FinishReason } from '@iop/domain';
import type { AnswerUsage } from '../../dialects/answer-part.ts';
import type { BlockHead } from './block-line.ts';

/** What is the same at the beginning and the end of an answer. */
export interface MessageIdentity {
  /** `msg_…`, of the run. */
  id: string;
  /** The name that the caller asked for. */
  model: string;
  unsupportedTools: readonly string[];
}

/** How the answer went, as far as it decides why it stopped. */
export interface MessageEnd {
  finish: FinishReason;
  /** Undefined: the upstream does not say. */
  stopSequence: string | undefined;
  hasCalls: boolean;
  hasRefused: boolean;
  usage: AnswerUsage;
}

/** `msg_` and what stands behind `run_`. */
export function toMessageId(runId: string): string {
  return runId.replace(/^run_/, 'msg_');
}

/** An agent ends its turn unless the reason says so, and waits for ever for a call that is not there. */
function stopReason({ finish, stopSequence, hasCalls, hasRefused }: MessageEnd): string {
  if (finish === 'content-filter' || hasRefused) return 'refusal';
  if (finish === 'length') return 'max_tokens';
  if (hasCalls) return 'tool_use';
  return stopSequence === undefined ? 'end_turn' : 'stop_sequence';
}

export function toStop(end: MessageEnd) {
  const reason = stopReason(end);
  const details = reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
  const sequence = reason === 'stop_sequence' ? end.stopSequence : null;
  return { stop_reason: reason, stop_sequence: sequence, stop_details: details };
}

/** Anthropic counts what came from a cache beside the input, everybody else as a part of it. */
export function toUsage({
  inputTokens,
  cachedTokens,
  outputTokens,
  reasoningTokens,
  estimated,
}: AnswerUsage) {
  const cached = Math.min(cachedTokens, inputTokens);
  return {
    input_tokens: inputTokens - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens > 0 ? { thinking_tokens: reasoningTokens } : null,
    server_tool_use: null,
    ...(estimated && { estimated }),
  };
}

/** The fields of a message that nothing of the answer changes, and the rest as it is at the beginning. */
export function toMessage({ id, model, unsupportedTools }: MessageIdentity, usage: AnswerUsage) {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [] as object[],
    stop_reason: null as string | null,
    stop_sequence: null,
    stop_details: null as object | null,
    container: null,
    diagnostics: null,
    usage: { ...toUsage(usage), cache_creation: null, inference_geo: null, service_tier: null, speed: null },
    ...(unsupportedTools.length > 0 && { iop_unsupported_tools: unsupportedTools }),
  };
}

export interface BlockWords {
  id: string;
  index: number;
}

/** A block with nothing in it yet. */
export function toBlock(head: BlockHead, { id, index }: BlockWords): Record<string, unknown> {
  switch (head.kind) {
    case 'text':
      return { type: 'text', text: '', citations: null };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool-use':
      return {
        type: 'tool_use',
        // some upstreams give their calls no id; clients need one to send the result back
        id: head.id === '' ? `toolu_${id.replace(/^msg_/, '')}_${index}` : head.id,
        name: head.name,
        input: {},
        caller: { type: 'direct' },
      };
  }
}

/** Clients keep thoughts, and send them back, only if they are signed. Nobody checks it: it says whose they are. */
export function signatureOf({ id }: MessageIdentity): string {
  return Buffer.from(`iop:${id}`).toString('base64');
}
