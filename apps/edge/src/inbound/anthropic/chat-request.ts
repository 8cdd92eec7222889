import { parseJsonBody } from '../http/json-body.ts';
import { type Fields, isObject, type Problem, toRefusal } from '../http/problem.ts';
import type { Refusal } from '../http/refusal.ts';
import type { ChatMessage, ChatTool } from './chat-message.ts';
import { toChatTools } from './chat-tools.ts';
import { toConversation } from './conversation.ts';

/** A request for a message, said as a chat request. */
export interface TranslatedRequest {
  model: string;
  stream: boolean;
  chat: ChatRequest;
  /** Tools that were asked for and cannot be served, for people. */
  unsupportedTools: readonly string[];
}

export interface ChatRequest extends Fields {
  messages: readonly ChatMessage[];
  tools?: readonly ChatTool[];
}

export type RequestOutcome =
  | { kind: 'request'; request: TranslatedRequest }
  | { kind: 'refused'; refusal: Refusal };

export function parseMessagesRequest(
  bytes: Uint8Array,
  findProblem: (body: Fields) => Problem | undefined,
): RequestOutcome {
  const body = parseJsonBody(bytes);
  if (body.kind === 'refused') return body;
  const problem = findProblem(body.fields);
  if (problem !== undefined) return { kind: 'refused', refusal: toRefusal(problem) };
  return { kind: 'request', request: translate(body.fields) };
}

function translate(body: Fields): TranslatedRequest {
  const model = String(body.model);
  const { fields: tools, unsupported } = toChatTools(body);
  const chat: ChatRequest = {
    model,
    messages: toConversation(body),
    ...tools,
    ...toSampling(body),
    ...toFormat(body),
    ...toEffort(body.output_config),
    stream: true,
    stream_options: { include_usage: true },
  };
  return { model, stream: body.stream === true, chat, unsupportedTools: unsupported };
}

const sameNames = ['max_tokens', 'temperature', 'top_p', 'top_k'] as const;

function toSampling(body: Fields): Fields {
  const fields: Record<string, unknown> = {};
  for (const name of sameNames) if (isSet(body[name])) fields[name] = body[name];
  const { stop_sequences: stop, metadata } = body;
  if (Array.isArray(stop) && stop.length > 0) fields.stop = stop;
  if (isObject(metadata) && typeof metadata.user_id === 'string') fields.user = metadata.user_id;
  return fields;
}

function toFormat({ output_config: config, output_format: format }: Fields): Fields {
  const asked = isObject(config) && isObject(config.format) ? config.format : format;
  if (!isObject(asked)) return {};
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: asked.schema, strict: true },
    },
  };
}

/** `high` is what everybody gets who does not ask, so it says nothing; no engine knows more than that. */
const efforts: Readonly<Record<string, string>> = {
  low: 'low',
  medium: 'medium',
  xhigh: 'high',
  max: 'high',
};

/** `thinking` itself has no word in a chat: how a model thinks is its engine's affair. */
function toEffort(config: unknown): Fields {
  const effort = isObject(config) ? efforts[String(config.effort)] : undefined;
  return effort === undefined ? {} : { reasoning_effort: effort };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
