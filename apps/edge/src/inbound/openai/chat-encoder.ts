import type { FinishReason, Usage } from '@iop/domain';
import { type AnswerIdentity, finishWord, toolCallId, toUsage } from './answer-words.ts';
import type { ChunkEncoder, ToolCall } from './run-shape.ts';

/**
 * Server-sent chat chunks from the events of adapters that speak no dialect of their own. Every
 * method returns whole events; the first call also gives the chunk that names the role.
 */
export class ChatEncoder implements ChunkEncoder {
  readonly #identity: AnswerIdentity;
  readonly #includeUsage: boolean;
  readonly #head: string;
  /** Tool calls that were named; only the first chunk of each carries id and name. */
  readonly #calls = new Set<number>();
  #usage: Usage | undefined;
  #hasBegun = false;

  constructor(identity: AnswerIdentity, includeUsage: boolean) {
    this.#identity = identity;
    this.#includeUsage = includeUsage;
    const { id, createdS: created, model } = identity;
    const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model });
    this.#head = `data: ${head.slice(0, -1)},"choices":`;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  text(text: string): string {
    return this.#delta(`{"content":${JSON.stringify(text)}}`);
  }

  reasoning(text: string): string {
    return this.#delta(`{"reasoning_content":${JSON.stringify(text)}}`);
  }

  toolCall({ index, id, name, argumentsJson }: ToolCall): string {
    const isFirst = !this.#calls.has(index);
    this.#calls.add(index);
    const call = isFirst
      ? {
          index,
          id: toolCallId(id, this.#identity, index),
          type: 'function',
          function: { name, arguments: argumentsJson },
        }
      : { index, function: { arguments: argumentsJson } };
    return this.#delta(JSON.stringify({ tool_calls: [call] }));
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  /** Nothing to show yet, but the answer has begun. */
  begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    return this.#chunk(
      '[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]',
    );
  }

  finish(finish: FinishReason, usage: Usage | undefined): string {
    const word = JSON.stringify(finishWord(finish, this.#calls.size > 0));
    const last = this.#chunk(`[{"index":0,"delta":{},"logprobs":null,"finish_reason":${word}}]`);
    const known = usage ?? this.#usage;
    if (!this.#includeUsage || known === undefined) return this.begin() + last;
    return `${this.begin()}${last}${this.#head}[],"usage":${JSON.stringify(toUsage(known))}}\n\n`;
  }

  #delta(delta: string): string {
    return this.begin() + this.#chunk(`[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":null}]`);
  }

  #chunk(choices: string): string {
    return `${this.#head}${choices}${this.#includeUsage ? ',"usage":null' : ''}}\n\n`;
  }
}
