import type { FinishReason, Usage } from '@iop/domain';
import { type AnswerIdentity, textFinishWord, toUsage } from './answer-words.ts';
import type { AnswerAssembler } from './run-shape.ts';

/** One `text_completion` from the events of adapters that speak no dialect of their own. */
export class CompletionAssembler implements AnswerAssembler {
  #text = '';
  #usage: Usage | undefined;

  text(text: string): void {
    this.#text += text;
  }

  /** Has no field here. */
  reasoning(): void {}

  toolCall(): void {}

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  finish({ id, createdS: created, model }: AnswerIdentity, finish: FinishReason, usage?: Usage): string {
    const known = usage ?? this.#usage;
    return JSON.stringify({
      id,
      object: 'text_completion',
      created,
      model,
      choices: [{ text: this.#text, index: 0, logprobs: null, finish_reason: textFinishWord(finish) }],
      ...(known !== undefined && { usage: toUsage(known) }),
    });
  }
}
