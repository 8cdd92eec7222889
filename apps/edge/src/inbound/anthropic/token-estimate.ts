import type { AnswerUsage } from '../../dialects/answer-part.ts';
import type { ChatMessage, ChatPart } from './chat-message.ts';
import type { ChatRequest } from './chat-request.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** What chat templates put around a message, and around the definition of a tool. */
const messageTokens = 5;
const toolTokens = 8;
/** How to call a tool: most templates explain it once. */
const toolsTokens = 80;
/** An image of about 1000 by 1000 pixels; its real size is the engine's to see. */
const imageTokens = 1200;

/** Tokens that a chat request has before its answer, counted by rule: no engine was asked. */
export function estimateTokens({ messages, tools, response_format: format }: ChatRequest): number {
  let tokens = 3;
  for (const message of messages) tokens += messageTokens + ofMessage(message);
  if (tools !== undefined) tokens += toolsTokens + sum(tools.map((tool) => toolTokens + ofJson(tool)));
  return format === undefined ? tokens : tokens + ofJson(format);
}

/**
 * For the beginning of a stream. It is not marked there: clients keep every field of the beginning, and would take the
 * engine's numbers, which come at the end, for estimates.
 */
export function firstUsage(chat: ChatRequest): AnswerUsage {
  const inputTokens = estimateTokens(chat);
  return { inputTokens, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0, estimated: false };
}

function ofMessage(message: ChatMessage): number {
  const content = typeof message.content === 'string' ? estimateTextTokens(message.content) : 0;
  if (message.role === 'user' && typeof message.content !== 'string') return sum(message.content.map(ofPart));
  if (message.role !== 'assistant') return content;
  const { tool_calls: calls = [], reasoning_content: reasoning = '' } = message;
  const ofCalls = calls.map(
    ({ function: called }) => toolTokens + estimateTextTokens(called.name + called.arguments),
  );
  return content + estimateTextTokens(reasoning) + sum(ofCalls);
}

function ofPart(part: ChatPart): number {
  return part.type === 'text' ? estimateTextTokens(part.text) : imageTokens;
}

function ofJson(value: unknown): number {
  return estimateTextTokens(JSON.stringify(value));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
