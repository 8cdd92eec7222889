import type { FinishReason, Usage } from '@iop/domain';
import { type AnswerIdentity, textFinishWord, toUsage } from './answer-words.ts';
import type { ChunkEncoder } from './run-shape.ts';

/** Server-sent `text_completion` events from the events of adapters that speak no dialect of their own. */
export class CompletionEncoder implements ChunkEncoder {
  readonly #includeUsage: boolean;
  readonly #head: string;
  #usage: Usage | undefined;
  #hasBegun = false;

  constructor({ id, createdS: created, model }: AnswerIdentity, includeUsage: boolean) {
    this.#includeUsage = includeUsage;
    const head = JSON.stringify({ id, object: 'text_completion', created, model });
    this.#head = `data: ${head.slice(0, -1)},"choices":`;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  text(text: string): string {
    this.#hasBegun = true;
    return this.#choice(JSON.stringify(text), 'null');
  }

  /** Has no field here. */
  reasoning(): string {
    return this.begin();
  }

  toolCall(): string {
    return this.begin();
  }

  usage(usage: Usage): void {
    this.#usage = usage;
  }

  begin(): string {
    return this.#hasBegun ? '' : this.text('');
  }

  finish(finish: FinishReason, usage: Usage | undefined): string {
    const last = this.#choice('""', JSON.stringify(textFinishWord(finish)));
    const known = usage ?? this.#usage;
    if (!this.#includeUsage || known === undefined) return last;
    return `${last}${this.#head}[],"usage":${JSON.stringify(toUsage(known))}}\n\n`;
  }

  #choice(text: string, finish: string): string {
    const usage = this.#includeUsage ? ',"usage":null' : '';
    return `${this.#head}[{"text":${text},"index":0,"logprobs":null,"finish_reason":${finish}}]${usage}}\n\n`;
  }
}
