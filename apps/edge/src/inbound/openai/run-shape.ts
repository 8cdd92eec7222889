import type { FinishReason, Usage } from '@iop/domain';
import type { Dialect, RawRequest, RuntimeEvent } from '@iop/runtime';
import type { Refusal } from '../http/refusal.ts';
import type { AnswerIdentity } from './answer-words.ts';

/** One way of asking and answering: all that `takeRun` has to know of it. */
export interface RunShape {
  /** Of the request, and of the raw events that answer it. */
  readonly dialect: Dialect;
  /** Of the ids of answers that are made here: `chatcmpl`. */
  readonly idPrefix: string;
  /** A whole answer waits so long for its end; what is larger is passed on as it comes. */
  readonly holdBytes: number;
  /** Checks what every upstream would trip over, and no more: upstreams are newer than this code. */
  parse(bytes: Uint8Array): RequestOutcome;
  /** For events of adapters that speak no dialect; undefined: such events cannot be shown. */
  readonly encoder?: (identity: AnswerIdentity, includeUsage: boolean) => ChunkEncoder;
  readonly assembler?: () => AnswerAssembler;
}

/** What the door has to know of a request; everything else travels in the bytes. */
export interface RunRequest {
  model: string;
  stream: boolean;
  includeUsage: boolean;
  raw?: RawRequest;
}

export type RequestOutcome = { kind: 'request'; request: RunRequest } | { kind: 'refused'; refusal: Refusal };

export type ToolCall = Extract<RuntimeEvent, { kind: 'tool-call' }>;

/** Server-sent events from typed ones. Every method returns whole events, or nothing. */
export interface ChunkEncoder {
  readonly hasBegun: boolean;
  text(text: string): string;
  reasoning(text: string): string;
  toolCall(call: ToolCall): string;
  usage(usage: Usage): void;
  /** Nothing to show yet, but the answer has begun. */
  begin(): string;
  finish(finish: FinishReason, usage: Usage | undefined): string;
}

/** One JSON body from typed events. */
export interface AnswerAssembler {
  text(text: string): void;
  reasoning(text: string): void;
  toolCall(call: ToolCall): void;
  usage(usage: Usage): void;
  finish(identity: AnswerIdentity, finish: FinishReason, usage: Usage | undefined): string;
}
