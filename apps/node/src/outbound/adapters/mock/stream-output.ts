import type { RuntimeEvent } from '@iop/runtime';
import { type AnswerHead, type MockOutput, type MockUsage, rawEvents, usageOf } from './mock-output.ts';
import type { MockPiece } from './mock-pieces.ts';

/** Server-sent events as an OpenAI server writes them, `[DONE]` excepted: the door adds it. */
export class StreamOutput implements MockOutput {
  readonly #head: AnswerHead;

  constructor(head: AnswerHead) {
    this.#head = head;
  }

  begin(): RuntimeEvent[] {
    return this.#each({ role: 'assistant', content: '' });
  }

  piece(piece: MockPiece): RuntimeEvent[] {
    return this.#each(this.#delta(piece));
  }

  garbage(): RuntimeEvent[] {
    return rawEvents('openai.chat', 'data: {"id":"mock","choices":[{"delta":{"content":"this is not \n\n');
  }

  end(finish: string, usage: MockUsage | undefined): RuntimeEvent[] {
    const events = this.#each({}, finish);
    if (!this.#head.includeUsage || usage === undefined) return events;
    return [...events, ...this.#chunk({ choices: [], usage: usageOf(usage) })];
  }

  #each(delta: object, finish: string | null = null): RuntimeEvent[] {
    const events: RuntimeEvent[] = [];
    for (let index = 0; index < this.#head.choices; index++) {
      const choices = [{ index, delta, logprobs: null, finish_reason: finish }];
      events.push(...this.#chunk(this.#head.includeUsage ? { choices, usage: null } : { choices }));
    }
    return events;
  }

  #chunk(fields: object): RuntimeEvent[] {
    const { id, created, model } = this.#head;
    const chunk = { id, object: 'chat.completion.chunk', created, model, ...fields };
    return rawEvents('openai.chat', `data: ${JSON.stringify(chunk)}\n\n`);
  }

  #delta(piece: MockPiece): object {
    switch (piece.kind) {
      case 'text':
        return { content: piece.text };
      case 'reasoning':
        return { [this.#head.reasoningField]: piece.text };
      case 'tool-call': {
        const { index, id, name } = piece;
        return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] };
      }
      case 'tool-arguments':
        return { tool_calls: [{ index: piece.index, function: { arguments: piece.text } }] };
    }
  }
}
