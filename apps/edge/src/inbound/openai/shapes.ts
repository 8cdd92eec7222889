import { ChatAssembler } from './chat-assembler.ts';
import { ChatEncoder } from './chat-encoder.ts';
import { parseChatRequest } from './chat-request.ts';
import { CompletionAssembler } from './completion-assembler.ts';
import { CompletionEncoder } from './completion-encoder.ts';
import { parseCompletionsRequest } from './completions-request.ts';
import { parseEmbeddingsRequest } from './embeddings-request.ts';
import { parseRawRequest, type RawAsked } from './raw-request.ts';
import type { RunShape } from './run-shape.ts';

/** Up to here an answer has a length, and a failure a status. */
const textHoldBytes = 8 * 1024 * 1024;
/** Embeddings take tens of megabytes, and whoever waits for the last of them waits twice. */
const bulkHoldBytes = 256 * 1024;

export const chatShape: RunShape = {
  dialect: 'openai.chat',
  idPrefix: 'chatcmpl',
  holdBytes: textHoldBytes,
  parse: parseChatRequest,
  encoder: (identity, includeUsage) => new ChatEncoder(identity, includeUsage),
  assembler: () => new ChatAssembler(),
};

export const completionsShape: RunShape = {
  dialect: 'openai.completions',
  idPrefix: 'cmpl',
  holdBytes: textHoldBytes,
  parse: parseCompletionsRequest,
  encoder: (identity, includeUsage) => new CompletionEncoder(identity, includeUsage),
  assembler: () => new CompletionAssembler(),
};

export const embeddingsShape: RunShape = {
  dialect: 'openai.embeddings',
  idPrefix: 'embd',
  holdBytes: bulkHoldBytes,
  parse: parseEmbeddingsRequest,
};

/** A request that only its upstream understands. */
export function rawShape(asked: RawAsked): RunShape {
  return {
    dialect: 'openai.raw',
    idPrefix: 'raw',
    holdBytes: bulkHoldBytes,
    parse: (bytes) => parseRawRequest(bytes, asked),
  };
}
