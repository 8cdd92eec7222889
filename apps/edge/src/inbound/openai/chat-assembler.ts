import type { FinishReason, Usage } from '@iop/domain';
import { type AnswerIdentity, finishWord, toolCallId, toUsage } from './answer-words.ts';
import type { AnswerAssembler, ToolCall } from './run-shape.ts';

interface AssembledCall {
  id: string;
  name: string;
  arguments: string;
}

/** One `chat.completion` from the events of adapters that speak no dialect of their own. */
export class ChatAssembler implements AnswerAssembler {
  #text = '';
  #reasoning = '';
  readonly #calls = new Map<number, AssembledCall>();
  #usage: Usage | undefined;

  text(text: string): void {
    this.#text += text;
  }

  reasoning(text: string): void {
    this.#reasoning += text;
  }

  toolCall({ index, id, name, argumentsJson }: ToolCall): void {
    const call = this.#calls.get(index) ?? { id, name, arguments: '' };
    call.arguments += argumentsJson;
    this.#calls.set(index, call);
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  finish(identity: AnswerIdentity, finish: FinishReason, usage: Usage | undefined): string {
    const { id, createdS: created, model } = identity;
    const known = usage ?? this.#usage;
    const choice = {
      index: 0,
      message: this.#message(identity),
      logprobs: null,
      finish_reason: finishWord(finish, this.#calls.size > 0),
    };
    return JSON.stringify({
      id,
      object: 'chat.completion',
      created,
      model,
      choices: [choice],
      ...(known !== undefined && { usage: toUsage(known) }),
    });
  }

  #message(identity: AnswerIdentity) {
    const calls = [...this.#calls.entries()].sort(([a], [b]) => a - b);
    return {
      role: 'assistant',
      content: this.#text === '' && calls.length > 0 ? null : this.#text,
      refusal: null,
      ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(([index, call]) => ({
          id: toolCallId(call.id, identity, index),
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      }),
    };
  }
}
