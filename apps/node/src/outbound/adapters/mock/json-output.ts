import type { RuntimeEvent } from '@iop/runtime';
import { type AnswerHead, bodyEvents, type MockOutput, type MockUsage, usageOf } from './mock-output.ts';
import type { MockPiece } from './mock-pieces.ts';

/** One JSON body, given when it is whole: until then nothing has left. */
export class JsonOutput implements MockOutput {
  readonly #head: AnswerHead;
  readonly #texts: string[] = [];
  readonly #reasoning: string[] = [];
  readonly #calls: { id: string; name: string; arguments: string }[] = [];
  #isBroken = false;

  constructor(head: AnswerHead) {
    this.#head = head;
  }

  begin(): RuntimeEvent[] {
    return [];
  }

  piece(piece: MockPiece): RuntimeEvent[] {
    if (piece.kind === 'text') this.#texts.push(piece.text);
    else if (piece.kind === 'reasoning') this.#reasoning.push(piece.text);
    else if (piece.kind === 'tool-call') {
      this.#calls[piece.index] = { id: piece.id, name: piece.name, arguments: '' };
    } else {
      const call = this.#calls[piece.index];
      if (call !== undefined) call.arguments += piece.text;
    }
    return [];
  }

  garbage(): RuntimeEvent[] {
    this.#isBroken = true;
    return [];
  }

  end(finish: string, usage: MockUsage | undefined): RuntimeEvent[] {
    const { id, created, model, choices } = this.#head;
    const answer = {
      id,
      object: 'chat.completion',
      created,
      model,
      choices: Array.from({ length: choices }, (_, index) => ({
        index,
        message: this.#message(),
        logprobs: null,
        finish_reason: finish,
      })),
      ...(usage && { usage: usageOf(usage) }),
    };
    const text = JSON.stringify(answer);
    return bodyEvents('openai.chat', this.#isBroken ? text.slice(0, -20) : text);
  }

  #message(): object {
    const hasCalls = this.#calls.length > 0;
    const text = this.#texts.join('');
    return {
      role: 'assistant',
      content: hasCalls && text === '' ? null : text,
      refusal: null,
      ...(this.#reasoning.length > 0 && { [this.#head.reasoningField]: this.#reasoning.join('') }),
      ...(hasCalls && {
        tool_calls: this.#calls.map(({ id, name, arguments: text }) => ({
          id,
          type: 'function',
          function: { name, arguments: text },
        })),
      }),
    };
  }
}
