import type { AnswerUsage } from '../../dialects/answer-part.ts';
import { type Fields, isObject } from '../http/problem.ts';
import type { ResponseAsk } from './response-ask.ts';

/** What stays the same in every showing of a response. */
export interface ResponseIdentity {
  id: string;
  runId: string;
  /** Seconds since 1970. */
  createdAtS: number;
  isStored: boolean;
  /** It was asked for at another door, and not as a stream. */
  isWhole?: boolean;
  ask: ResponseAsk;
}

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** How far it has come. */
export interface ResponseProgress {
  status: ResponseStatus;
  output: readonly unknown[];
  usage?: AnswerUsage | undefined;
  completedAtS?: number | undefined;
  error?: { code: string; message: string } | undefined;
  incomplete?: 'max_output_tokens' | 'content_filter' | undefined;
  /** What only IOP says. */
  own?: Fields | undefined;
}

/** The response as callers see it: every field of the published shape, whether it was asked for or not. */
export function toResponse(identity: ResponseIdentity, progress: ResponseProgress): Fields {
  const { id, createdAtS, ask } = identity;
  const { status, output, usage, completedAtS, error, incomplete } = progress;
  return {
    id,
    object: 'response',
    created_at: createdAtS,
    completed_at: completedAtS ?? null,
    status,
    background: ask.background,
    error: error ?? null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    model: ask.model,
    output,
    usage: usage === undefined ? null : toUsage(usage),
    ...echo(ask),
    store: identity.isStored,
    iop: toOwn(identity, progress),
  };
}

/** Beside the published fields, where strict readers look past it. */
function toOwn({ runId, ask }: ResponseIdentity, { own }: ResponseProgress): Fields {
  const { unserved } = ask.tools;
  return { run: runId, ...(unserved.length > 0 && { unsupported_tools: unserved }), ...own };
}

function toUsage({
  inputTokens,
  cachedTokens,
  outputTokens,
  reasoningTokens,
  estimated,
}: AnswerUsage): Fields {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
    ...(estimated && { estimated }),
  };
}

const defaults: Fields = {
  previous_response_id: null,
  instructions: null,
  tool_choice: 'auto',
  parallel_tool_calls: true,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
};

function echo({ fields, tools }: ResponseAsk): Fields {
  const echoed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(defaults)) echoed[name] = fields[name] ?? value;
  return {
    ...echoed,
    ...(typeof fields.user === 'string' && { user: fields.user }),
    reasoning: toReasoning(fields.reasoning),
    // what is done, whatever was asked for: nothing is cut off, and there is one tier
    service_tier: 'default',
    truncation: 'disabled',
    text: toText(fields.text),
    tools: tools.served,
  };
}

function toReasoning(given: unknown): Fields {
  const { effort = null, summary = null } = isObject(given) ? given : {};
  return { effort, summary };
}

function toText(given: unknown): Fields {
  const { format, verbosity } = isObject(given) ? given : {};
  return { format: toFormat(format), verbosity: verbosity ?? 'medium' };
}

function toFormat(format: unknown): Fields {
  if (!isObject(format)) return { type: 'text' };
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, schema, description, strict } = format;
  const described = typeof description === 'string' ? { description } : {};
  return { type: 'json_schema', name, ...described, schema, strict: strict ?? false };
}
